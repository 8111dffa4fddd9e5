-- Indexes behind the filters of GET /generations whose values are rare. They are partial: a call without a session or
-- user that succeeds pays for none of them. A filter by key, model or provider needs no index: activity_days and
-- activity_key_days name the days to read.
CREATE INDEX "generations_session_idx" ON "generations"("workspace_id", "session_id", "created_at", "id") WHERE "session_id" IS NOT NULL;
CREATE INDEX "generations_user_idx" ON "generations"("workspace_id", "user_id", "created_at", "id") WHERE "user_id" IS NOT NULL;
CREATE INDEX "generations_failed_idx" ON "generations"("workspace_id", "status", "created_at", "id") WHERE "status" >= 400;
