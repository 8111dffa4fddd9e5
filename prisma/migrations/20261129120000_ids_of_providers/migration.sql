-- Clients of the Messages wire know a call by the provider's id of its message. Calls in Chat's wire, which carry the id of this
-- service, pay for no entry.
CREATE INDEX "generations_upstream_idx" ON "generations"("workspace_id", "upstream_id") WHERE ("chat" ->> 'wire') IS NOT NULL;
