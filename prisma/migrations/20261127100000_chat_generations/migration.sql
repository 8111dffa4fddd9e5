-- Chat calls in the log and in the sums of /activity. Rows of embeddings keep their size: the new columns are null there,
-- and the bitmap of nulls has room for them.

ALTER TABLE "generations"
    ADD COLUMN "completion_tokens" INTEGER,
    ADD COLUMN "reasoning_tokens" INTEGER,
    ADD COLUMN "cached_tokens" INTEGER,
    ADD COLUMN "chat" JSONB,
    ALTER COLUMN "encoding_format" DROP NOT NULL;

-- The earlier type stays: a version before this one still appends with it.
CREATE TYPE "logged_generation" AS (
    "id" UUID,
    "workspace_id" UUID,
    "created_at" TIMESTAMPTZ,
    "account_id" UUID,
    "api_key_id" UUID,
    "operation" TEXT,
    "model" TEXT,
    "endpoint" TEXT,
    "provider" TEXT,
    "upstream_id" TEXT,
    "status" SMALLINT,
    "error_type" TEXT,
    "input_count" INTEGER,
    "prompt_tokens" INTEGER,
    "total_tokens" INTEGER,
    "cost" NUMERIC,
    "upstream_cost" NUMERIC,
    "is_byok" BOOLEAN,
    "dimensions" INTEGER,
    "encoding_format" TEXT,
    "input_type" TEXT,
    "duration_ms" INTEGER,
    "upstream_ms" INTEGER,
    "user_id" TEXT,
    "session_id" TEXT,
    "request_id" TEXT,
    "region" TEXT,
    "trace" JSONB,
    "request_context" JSONB,
    "attempts" JSONB,
    "content_ordinal" INTEGER,
    "content_bytes" INTEGER,
    "completion_tokens" INTEGER,
    "reasoning_tokens" INTEGER,
    "cached_tokens" INTEGER,
    "chat" JSONB
);

-- Rules on the output read stored content, like those on the input.
UPDATE "destinations" SET "needs_content" = true
WHERE NOT "needs_content" AND "filter_rules" @? '$ ? (@.enabled == true).groups[*].rules[*].field ? (@ == "output")';

-- The default is for rows that a version before this one sums.
ALTER TABLE "activity_days"
    ADD COLUMN "completion_tokens" BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN "reasoning_tokens" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "activity_key_days"
    ADD COLUMN "completion_tokens" BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN "reasoning_tokens" BIGINT NOT NULL DEFAULT 0;
