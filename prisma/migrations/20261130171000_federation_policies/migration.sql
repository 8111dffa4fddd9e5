-- Policies by which jobs exchange a token of their issuer for a short-lived access token of a key.
CREATE TABLE "federation_policies" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    -- The key whose calls the access tokens make.
    "workspace_id" UUID NOT NULL,
    "api_key_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "audience" TEXT NOT NULL,
    -- Exact, or a beginning with `*` at its end.
    "subject" TEXT NOT NULL,
    "claims" JSONB NOT NULL DEFAULT '{}',
    "max_ttl_seconds" INTEGER NOT NULL,
    -- The public keys of the issuer, or the address that has them.
    "jwks" JSONB,
    "jwks_url" TEXT,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3),

    CONSTRAINT "federation_policies_pkey" PRIMARY KEY ("account_id","id"),
    CONSTRAINT "federation_policies_keys_check" CHECK (("jwks" IS NULL) <> ("jwks_url" IS NULL)),
    CONSTRAINT "federation_policies_ttl_check" CHECK ("max_ttl_seconds" BETWEEN 60 AND 900)
);
CREATE UNIQUE INDEX "federation_policies_id_key" ON "federation_policies"("id");
CREATE INDEX "federation_policies_workspace_id_api_key_id_idx" ON "federation_policies"("workspace_id", "api_key_id");
ALTER TABLE "federation_policies" ADD CONSTRAINT "federation_policies_account_id_workspace_id_fkey"
    FOREIGN KEY ("account_id", "workspace_id") REFERENCES "workspaces"("account_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
ALTER TABLE "federation_policies" ADD CONSTRAINT "federation_policies_workspace_id_api_key_id_fkey"
    FOREIGN KEY ("workspace_id", "api_key_id") REFERENCES "api_keys"("workspace_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- The policy that issued a secret; null: a secret of the key itself.
ALTER TABLE "api_key_secrets" ADD COLUMN "federation_policy_id" UUID;
ALTER TABLE "api_key_secrets" ADD CONSTRAINT "api_key_secrets_federation_policy_id_fkey"
    FOREIGN KEY ("federation_policy_id") REFERENCES "federation_policies"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
-- Partial: few secrets are of a policy. Without the first, ending a policy would read all secrets.
CREATE INDEX "api_key_secrets_federated_idx" ON "api_key_secrets"("federation_policy_id") WHERE "federation_policy_id" IS NOT NULL;
CREATE INDEX "api_key_secrets_federated_expiry_idx" ON "api_key_secrets"("expires_at") WHERE "federation_policy_id" IS NOT NULL;

-- Access tokens end with the policy that issued them, whatever process or hand changes it: all but its name decides who
-- holds one.
CREATE FUNCTION end_access_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM "api_key_secrets" WHERE "federation_policy_id" = NEW."id";
    RETURN NULL;
END $$;
CREATE TRIGGER "federation_policies_end_access_tokens" AFTER UPDATE ON "federation_policies" FOR EACH ROW
    WHEN ((OLD."api_key_id", OLD."issuer", OLD."audience", OLD."subject", OLD."claims", OLD."max_ttl_seconds", OLD."jwks",
           OLD."jwks_url", OLD."enabled")
        IS DISTINCT FROM (NEW."api_key_id", NEW."issuer", NEW."audience", NEW."subject", NEW."claims", NEW."max_ttl_seconds",
           NEW."jwks", NEW."jwks_url", NEW."enabled"))
    EXECUTE FUNCTION end_access_tokens();

-- The service chooses access tokens, and issues many: they need no record of secrets that are no longer valid.
CREATE OR REPLACE FUNCTION retire_secret() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner record;
BEGIN
    IF OLD.federation_policy_id IS NOT NULL THEN RETURN NULL; END IF;
    SELECT account_id, external_user INTO owner FROM api_keys
        WHERE workspace_id = OLD.workspace_id AND id = OLD.api_key_id;
    IF FOUND AND owner.external_user IS NULL THEN RETURN NULL; END IF;
    INSERT INTO retired_secrets (secret_hash, account_id) VALUES (OLD.secret_hash, owner.account_id)
        ON CONFLICT (secret_hash) DO UPDATE SET account_id = excluded.account_id, retired_at = excluded.retired_at;
    RETURN NULL;
END $$;
