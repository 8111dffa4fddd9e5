-- What is checked and told of new rows is checked and told once for a statement, however many rows it makes.

-- In the place of refuse_deleted_workspace. It runs after the rows are made and before anybody sees them. The locks wait
-- for a deletion that is under way, and a deletion waits for them, so whoever deletes a workspace still sees every key
-- that was made in it before.
CREATE FUNCTION refuse_deleted_workspaces() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    deleted UUID[];
BEGIN
    -- An aggregate, so that every row is locked before the first is judged.
    SELECT array_agg("id") FILTER (WHERE "deleted_at" IS NOT NULL) INTO deleted FROM (
        SELECT "id", "deleted_at" FROM "workspaces"
        WHERE "id" = ANY (ARRAY(SELECT DISTINCT "workspace_id" FROM made))
        ORDER BY "id" FOR KEY SHARE
    ) AS locked;
    IF deleted IS NOT NULL THEN
        RAISE EXCEPTION 'workspace % is deleted', deleted[1] USING ERRCODE = 'SB001';
    END IF;
    RETURN NULL;
END $$;

DROP TRIGGER "api_keys_not_in_deleted_workspace" ON "api_keys";
DROP TRIGGER "destinations_not_in_deleted_workspace" ON "destinations";
DROP TRIGGER "provider_credentials_not_in_deleted_workspace" ON "provider_credentials";
DROP FUNCTION refuse_deleted_workspace();
CREATE TRIGGER "api_keys_not_in_deleted_workspace" AFTER INSERT ON "api_keys"
    REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION refuse_deleted_workspaces();
CREATE TRIGGER "destinations_not_in_deleted_workspace" AFTER INSERT ON "destinations"
    REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION refuse_deleted_workspaces();
CREATE TRIGGER "provider_credentials_not_in_deleted_workspace" AFTER INSERT ON "provider_credentials"
    REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION refuse_deleted_workspaces();

CREATE FUNCTION notify_destinations_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('broadcast_terms_changed', "workspace_id"::text) FROM (
        SELECT DISTINCT "workspace_id" FROM made
    ) AS workspaces_of_made;
    RETURN NULL;
END $$;
DROP TRIGGER "destinations_changed" ON "destinations";
CREATE TRIGGER "destinations_changed" AFTER UPDATE OR DELETE ON "destinations"
    FOR EACH ROW EXECUTE FUNCTION notify_broadcast_terms_changed();
CREATE TRIGGER "destinations_made" AFTER INSERT ON "destinations"
    REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION notify_destinations_made();
