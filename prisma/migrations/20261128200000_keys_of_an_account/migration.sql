-- Names of keys in reports are read by account and id. The primary key begins with the workspace: PostgreSQL 18 skips
-- through all workspaces of the installation to use it, and earlier versions read all keys of the account.
CREATE INDEX "api_keys_account_id_id_idx" ON "api_keys"("account_id", "id");
