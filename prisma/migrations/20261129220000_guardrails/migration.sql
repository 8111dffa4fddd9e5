-- Guardrails: what calls of a workspace, of a member's keys or of one key may use. Empty lists and nulls are no rule.
CREATE TABLE "guardrails" (
    "workspace_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    -- The guardrail of all keys of the workspace. Its id is the UUIDv5 of the workspace's id.
    "is_default" BOOLEAN NOT NULL DEFAULT false,
    "name" TEXT NOT NULL,
    "description" TEXT,
    -- Canonical slugs.
    "allowed_models" TEXT[],
    "ignored_models" TEXT[],
    -- Slugs of providers, and tags of endpoints.
    "allowed_providers" TEXT[],
    "ignored_providers" TEXT[],
    "enforce_zdr_anthropic" BOOLEAN,
    "enforce_zdr_openai" BOOLEAN,
    "enforce_zdr_google" BOOLEAN,
    "enforce_zdr_xai" BOOLEAN,
    "enforce_zdr_other" BOOLEAN,
    "enable_paid_model_training" BOOLEAN,
    "enable_free_model_training" BOOLEAN,
    "enable_free_model_publication" BOOLEAN,
    -- global | europe | us
    "allowed_data_regions" TEXT[],
    "include_byok_in_budgets" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3),

    CONSTRAINT "guardrails_pkey" PRIMARY KEY ("workspace_id","id")
);
CREATE UNIQUE INDEX "guardrails_id_key" ON "guardrails"("id");
-- The look-up of a caller finds the default by it.
CREATE UNIQUE INDEX "guardrails_default_key" ON "guardrails"("workspace_id") WHERE "is_default";
CREATE INDEX "guardrails_account_id_idx" ON "guardrails"("account_id");
ALTER TABLE "guardrails" ADD CONSTRAINT "guardrails_account_id_workspace_id_fkey"
    FOREIGN KEY ("account_id", "workspace_id") REFERENCES "workspaces"("account_id", "id") ON DELETE RESTRICT ON UPDATE NO ACTION;

-- A key has at most one guardrail of its own, and a member one in each workspace.
CREATE TABLE "guardrail_assignments" (
    "workspace_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "guardrail_id" UUID NOT NULL,
    -- Either a key or a member.
    "api_key_id" UUID,
    "user_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "guardrail_assignments_pkey" PRIMARY KEY ("workspace_id","id"),
    CONSTRAINT "guardrail_assignments_subject_check" CHECK (("api_key_id" IS NULL) <> ("user_id" IS NULL))
);
CREATE UNIQUE INDEX "guardrail_assignments_workspace_id_api_key_id_key" ON "guardrail_assignments"("workspace_id", "api_key_id");
CREATE UNIQUE INDEX "guardrail_assignments_workspace_id_user_id_key" ON "guardrail_assignments"("workspace_id", "user_id");
CREATE INDEX "guardrail_assignments_workspace_id_guardrail_id_idx" ON "guardrail_assignments"("workspace_id", "guardrail_id");
ALTER TABLE "guardrail_assignments" ADD CONSTRAINT "guardrail_assignments_workspace_id_guardrail_id_fkey"
    FOREIGN KEY ("workspace_id", "guardrail_id") REFERENCES "guardrails"("workspace_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
ALTER TABLE "guardrail_assignments" ADD CONSTRAINT "guardrail_assignments_workspace_id_api_key_id_fkey"
    FOREIGN KEY ("workspace_id", "api_key_id") REFERENCES "api_keys"("workspace_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
ALTER TABLE "guardrail_assignments" ADD CONSTRAINT "guardrail_assignments_workspace_id_user_id_fkey"
    FOREIGN KEY ("workspace_id", "user_id") REFERENCES "workspace_members"("workspace_id", "user_id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- An assignment to a member concerns the keys that the member has created.
CREATE INDEX "api_keys_workspace_id_creator_user_id_idx" ON "api_keys"("workspace_id", "creator_user_id");

-- Every process caches guardrails by their id, and callers, which name their guardrails, by the hash of their secret.
CREATE FUNCTION notify_guardrail_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed "guardrails"%ROWTYPE := coalesce(NEW, OLD);
BEGIN
    PERFORM pg_notify('guardrail_changed', changed."id"::text);
    IF changed."is_default" AND TG_OP <> 'UPDATE' THEN
        PERFORM pg_notify('api_key_changed', "secret_hash") FROM "api_key_secrets"
            WHERE "workspace_id" = changed."workspace_id";
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "guardrails_changed" AFTER INSERT OR UPDATE OR DELETE ON "guardrails"
    FOR EACH ROW EXECUTE FUNCTION notify_guardrail_changed();

CREATE FUNCTION notify_guardrail_assigned() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed "guardrail_assignments"%ROWTYPE := coalesce(NEW, OLD);
BEGIN
    IF changed."user_id" IS NULL THEN
        PERFORM pg_notify('api_key_changed', "secret_hash") FROM "api_key_secrets"
            WHERE "workspace_id" = changed."workspace_id" AND "api_key_id" = changed."api_key_id";
    ELSE
        PERFORM pg_notify('api_key_changed', secret."secret_hash") FROM "api_keys" AS key
            JOIN "api_key_secrets" AS secret ON secret."workspace_id" = key."workspace_id" AND secret."api_key_id" = key."id"
            WHERE key."workspace_id" = changed."workspace_id" AND key."creator_user_id" = changed."user_id";
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "guardrail_assignments_changed" AFTER INSERT OR UPDATE OR DELETE ON "guardrail_assignments"
    FOR EACH ROW EXECUTE FUNCTION notify_guardrail_assigned();
