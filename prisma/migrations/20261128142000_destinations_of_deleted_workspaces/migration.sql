-- The deletion of a workspace deletes its destinations. Earlier it disabled them only, and their rows kept its row for ever.
UPDATE "destinations" AS destination
SET "slot" = NULL, "deleted_at" = workspace."deleted_at", "version" = destination."version" + 1
FROM "workspaces" AS workspace
WHERE workspace."id" = destination."workspace_id" AND workspace."deleted_at" IS NOT NULL AND destination."deleted_at" IS NULL;
