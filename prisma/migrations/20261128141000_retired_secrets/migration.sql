-- The secrets that partners chose and that are no longer valid: no other account can make one its own, and so receive the
-- calls of applications that still present it. Own secrets need none of it, because no caller can choose them. By triggers,
-- because processes of the version before delete secrets too.
CREATE TABLE "retired_secrets" (
    "secret_hash" CHAR(64) NOT NULL,
    "account_id" UUID,
    "retired_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "retired_secrets_pkey" PRIMARY KEY ("secret_hash")
);

CREATE INDEX "retired_secrets_retired_at_idx" ON "retired_secrets"("retired_at");

-- The key is gone where its workspace is removed: whose secret it was is unknown then.
CREATE FUNCTION retire_secret() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner record;
BEGIN
    SELECT account_id, external_user INTO owner FROM api_keys
        WHERE workspace_id = OLD.workspace_id AND id = OLD.api_key_id;
    IF FOUND AND owner.external_user IS NULL THEN RETURN NULL; END IF;
    INSERT INTO retired_secrets (secret_hash, account_id) VALUES (OLD.secret_hash, owner.account_id)
        ON CONFLICT (secret_hash) DO UPDATE SET account_id = excluded.account_id, retired_at = excluded.retired_at;
    RETURN NULL;
END $$;

CREATE TRIGGER "api_key_secrets_retire" AFTER DELETE ON "api_key_secrets"
    FOR EACH ROW EXECUTE FUNCTION retire_secret();

-- After the insertion, which waits for a deletion of the same secret: its record is visible then.
CREATE FUNCTION reject_retired_secret() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM retired_secrets AS retired WHERE retired.secret_hash = NEW.secret_hash
            AND retired.account_id IS DISTINCT FROM
                (SELECT account_id FROM api_keys WHERE workspace_id = NEW.workspace_id AND id = NEW.api_key_id)
    ) THEN
        RAISE EXCEPTION 'the secret belonged to another account' USING ERRCODE = 'unique_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER "api_key_secrets_reject_retired" AFTER INSERT ON "api_key_secrets"
    FOR EACH ROW EXECUTE FUNCTION reject_retired_secret();
