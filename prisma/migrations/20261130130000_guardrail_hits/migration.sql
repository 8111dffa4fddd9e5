-- Matches of content filters by day. No foreign keys: rows of a deleted guardrail go with their days.
CREATE TABLE "guardrail_hits" (
    "workspace_id" UUID NOT NULL,
    "guardrail_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    -- redact | block | flag
    "action" TEXT NOT NULL,
    -- Label or slug of the filter, else its index.
    "filter" TEXT NOT NULL,
    "hits" BIGINT NOT NULL,

    CONSTRAINT "guardrail_hits_pkey" PRIMARY KEY ("workspace_id","guardrail_id","day","action","filter")
);
CREATE INDEX "guardrail_hits_day_idx" ON "guardrail_hits"("day");
