-- Deleted workspaces by age, which are purged, and by account, which may have so many. Calls write no workspaces.
CREATE INDEX "workspaces_deleted_idx" ON "workspaces"("deleted_at") WHERE "deleted_at" IS NOT NULL;
CREATE INDEX "workspaces_deleted_of_account_idx" ON "workspaces"("account_id") WHERE "deleted_at" IS NOT NULL;
