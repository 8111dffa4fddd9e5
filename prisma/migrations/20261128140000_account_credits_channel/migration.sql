-- A change of credits has a channel of its own as well, since it concerns workspaces that it does not name: a change of one
-- workspace evicts that workspace alone. Processes of the version before listen to the first channel alone.
CREATE OR REPLACE FUNCTION notify_spend_terms_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'accounts' THEN
        PERFORM pg_notify('account_credits_changed', to_jsonb(NEW)->>'id');
    END IF;
    PERFORM pg_notify('spend_terms_changed', CASE TG_TABLE_NAME
        WHEN 'accounts' THEN to_jsonb(NEW)->>'id'
        WHEN 'workspaces' THEN to_jsonb(NEW)->>'id'
        ELSE to_jsonb(coalesce(NEW, OLD))->>'workspace_id' END);
    RETURN NULL;
END $$;
