-- Calls by the ids that responses and providers give them, over all workspaces of an account. The time makes an id that a
-- client sends with every call cheap to read newest first.
CREATE INDEX "generations_request_idx" ON "generations"("account_id", "request_id", "created_at");
-- Partial: a call that no provider has named does not pay for it.
CREATE INDEX "generations_upstream_idx" ON "generations"("account_id", "upstream_id", "created_at") WHERE "upstream_id" IS NOT NULL;
