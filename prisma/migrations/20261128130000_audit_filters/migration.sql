-- One index for each filter of GET /audit: a filter that matches little must not read all entries of its account. The
-- index on object_id alone replaces the one that began with the type: ids of objects are hardly shared between types.
-- Changes wait while the indexes are built; calls write no entries.
CREATE INDEX "audit_log_account_id_object_id_id_idx" ON "audit_log"("account_id", "object_id", "id");
CREATE INDEX "audit_log_account_id_object_type_id_idx" ON "audit_log"("account_id", "object_type", "id");
CREATE INDEX "audit_log_account_id_workspace_id_id_idx" ON "audit_log"("account_id", "workspace_id", "id");
CREATE INDEX "audit_log_account_id_action_id_idx" ON "audit_log"("account_id", "action", "id");
DROP INDEX "audit_log_account_id_object_type_object_id_id_idx";
