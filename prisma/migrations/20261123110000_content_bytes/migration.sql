-- A block of contents as calls hand it over: its bytes are a part of one value that all blocks of a statement share and
-- that comes as it is. As a text within a record they were copied and looked through several times on their way.
CREATE TYPE "content_block_entry" AS (
    "generation_id" UUID,
    "workspace_id" UUID,
    "created_at" TIMESTAMPTZ,
    "ordinal" INTEGER,
    "generation_ids" UUID[],
    "encryption_key_id" TEXT,
    "first_byte" INTEGER,
    "bytes" INTEGER
);
