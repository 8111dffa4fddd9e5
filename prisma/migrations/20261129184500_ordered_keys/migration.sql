-- Pages of keys by name and by expiry. A name may be longer than a row of an index.
CREATE INDEX "api_keys_name_idx" ON "api_keys"("workspace_id", left(lower("name"), 100), "id") WHERE "deleted_at" IS NULL;
CREATE INDEX "api_keys_expires_at_idx" ON "api_keys"("workspace_id", "expires_at", "id") WHERE "deleted_at" IS NULL;
