-- All failed calls of a workspace, newest first. Along generations_failed_idx, which has the status before the time, a page
-- merges one range for each status, in each day of the log. Partial: a call that succeeds does not pay for it.
CREATE INDEX "generations_failures_idx" ON "generations"("workspace_id", "created_at", "id") WHERE "status" >= 400;
