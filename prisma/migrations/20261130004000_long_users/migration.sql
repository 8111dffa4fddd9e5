-- The index of users holds their first 300 characters: a row of an index has at most 2,704 bytes, and a user of 1,000
-- characters that cannot be compressed has more, so that its call was not appended.
DROP INDEX "generations_user_idx";
CREATE INDEX "generations_user_idx" ON "generations"("workspace_id", left("user_id", 300), "created_at", "id") WHERE "user_id" IS NOT NULL;
