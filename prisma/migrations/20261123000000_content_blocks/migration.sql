-- Contents of calls that are appended together are stored as one row, a block: one encryption, one row to write, to read
-- and to remove for all of them.

-- The ordinal of the content that a generation's is in, in the same transaction, and the bytes of its own part of it (0:
-- none is stored). Null in rows of earlier versions, whose contents have rows of their own at the same place.
ALTER TABLE "generations" ADD COLUMN "content_ordinal" INTEGER, ADD COLUMN "content_bytes" INTEGER;

-- Whose contents a block holds; null when it is the content of "generation_id" alone, which is else the block's own id. A
-- block stands at the place of the last of them, so that it is passed when all of them are.
ALTER TABLE "generation_contents" ADD COLUMN "generation_ids" UUID[];

-- Whether a letter needs a block is asked for all of its generations at once.
CREATE INDEX "dead_letters_workspace_id_generation_id_idx" ON "dead_letters"("workspace_id", "generation_id");

-- What a call appends, handed over as records: reading them takes half as long as reading JSON. A version that appends
-- otherwise brings types of other names: the one before still names these.
CREATE TYPE "generation_entry" AS (
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
    "content_bytes" INTEGER
);
CREATE TYPE "generation_content_entry" AS (
    "generation_id" UUID,
    "workspace_id" UUID,
    "created_at" TIMESTAMPTZ,
    "ordinal" INTEGER,
    "generation_ids" UUID[],
    "ciphertext" TEXT,
    "encryption_key_id" TEXT
);
