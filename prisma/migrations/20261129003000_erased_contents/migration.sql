-- The contents of workspaces that were deleted until then are erased from the history; null: none yet.
ALTER TABLE "history_copy" ADD COLUMN "erased_until" TIMESTAMPTZ(3);
