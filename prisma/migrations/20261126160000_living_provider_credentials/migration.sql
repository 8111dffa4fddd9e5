-- Deleted credentials keep their rows. Calls, and the limit of credentials for a provider, read the living ones alone:
-- creating and deleting without end must not slow them down.
CREATE INDEX "provider_credentials_workspace_id_deleted_at_provider_idx" ON "provider_credentials"("workspace_id", "deleted_at", "provider");
DROP INDEX "provider_credentials_workspace_id_provider_sort_order_idx";
