-- Why a call failed, in the record itself. Rows of successes keep their size: the column is null there, and the bitmap of
-- nulls has room for it.
ALTER TABLE "generations" ADD COLUMN "error_message" TEXT;

-- The earlier type stays: a version before this one still appends with it.
CREATE TYPE "recorded_generation" AS (
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
    "chat" JSONB,
    "error_message" TEXT
);
