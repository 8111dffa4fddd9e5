-- Every replica keeps the provider credentials of workspaces in memory; a change is told by the database, so that a
-- revocation takes effect everywhere as soon as it is committed. The payload is the id of the workspace.
CREATE FUNCTION notify_provider_credential_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM pg_notify('provider_credential_changed', OLD."workspace_id"::text);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM pg_notify('provider_credential_changed', NEW."workspace_id"::text);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "provider_credentials_changed" AFTER INSERT OR UPDATE OR DELETE ON "provider_credentials"
    FOR EACH ROW EXECUTE FUNCTION notify_provider_credential_changed();
