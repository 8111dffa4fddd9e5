-- Filters of the texts of calls, as lists of objects: {pattern, action, label} and {slug, action, scanScope}.
ALTER TABLE "guardrails"
    ADD COLUMN "content_filters" JSONB NOT NULL DEFAULT '[]',
    ADD COLUMN "builtin_filters" JSONB NOT NULL DEFAULT '[]',
    ADD COLUMN "reject_unscannable" BOOLEAN NOT NULL DEFAULT false;
