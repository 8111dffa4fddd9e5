-- Texts of platforms may repeat what they were sent. From here on "message" and "last_error_message" hold the HTTP status
-- alone, and the text stands beside them, encrypted, until the contents of the time are gone.
ALTER TABLE "dead_letters"
    ADD COLUMN IF NOT EXISTS "message_ciphertext" BYTEA,
    ADD COLUMN IF NOT EXISTS "message_encryption_key_id" TEXT;

-- The last replays and connection tests, and the position that a replay from a time has to reach to be over.
ALTER TABLE "delivery_cursors"
    ADD COLUMN IF NOT EXISTS "last_error_ciphertext" BYTEA,
    ADD COLUMN IF NOT EXISTS "last_error_encryption_key_id" TEXT,
    ADD COLUMN IF NOT EXISTS "replays_started_at" TIMESTAMPTZ(3)[] NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS "replay_end_transaction" BIGINT,
    ADD COLUMN IF NOT EXISTS "replay_end_ordinal" INTEGER,
    ADD COLUMN IF NOT EXISTS "tests_started_at" TIMESTAMPTZ(3)[] NOT NULL DEFAULT '{}';

UPDATE "dead_letters" SET "message" = coalesce(substring("message" FROM 'HTTP [1-5][0-9][0-9]'), '')
WHERE "message" !~ '^(HTTP [1-5][0-9][0-9])?$';
UPDATE "delivery_cursors" SET "last_error_message" = coalesce(substring("last_error_message" FROM 'HTTP [1-5][0-9][0-9]'), '')
WHERE "last_error_message" !~ '^(HTTP [1-5][0-9][0-9])?$';

-- What is to be cleared is found without a look at what has been cleared.
CREATE INDEX IF NOT EXISTS "dead_letters_message_until_idx" ON "dead_letters"("generation_created_at") WHERE "message_ciphertext" IS NOT NULL;
CREATE INDEX IF NOT EXISTS "delivery_cursors_last_error_until_idx" ON "delivery_cursors"("last_error_at") WHERE "last_error_ciphertext" IS NOT NULL;
