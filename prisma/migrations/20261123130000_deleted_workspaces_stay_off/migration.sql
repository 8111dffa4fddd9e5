-- What was switched off with its workspace stays off: its budgets and its own provider keys are gone. The lock waits for a
-- deletion that is under way, and a deletion waits for it.
CREATE FUNCTION refuse_deleted_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    deleted TIMESTAMPTZ;
BEGIN
    SELECT "deleted_at" INTO deleted FROM "workspaces" WHERE "id" = NEW."workspace_id" FOR KEY SHARE;
    IF deleted IS NOT NULL THEN
        RAISE EXCEPTION 'workspace % is deleted', NEW."workspace_id" USING ERRCODE = 'SB001';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER "api_keys_stay_off_in_deleted_workspace" BEFORE UPDATE OF "disabled" ON "api_keys"
    FOR EACH ROW WHEN (OLD."disabled" AND NOT NEW."disabled" AND NEW."kind" = 'inference')
    EXECUTE FUNCTION refuse_deleted_workspace();
CREATE TRIGGER "destinations_stay_off_in_deleted_workspace" BEFORE UPDATE OF "enabled" ON "destinations"
    FOR EACH ROW WHEN (NOT OLD."enabled" AND NEW."enabled")
    EXECUTE FUNCTION refuse_deleted_workspace();
