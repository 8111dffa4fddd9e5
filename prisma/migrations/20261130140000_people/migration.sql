-- People, who sign in by an identity provider, their roles, and their sessions of the console.
CREATE TABLE "persons" (
    "account_id" UUID NOT NULL,
    -- usr_ and 32 hexadecimal digits.
    "id" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "email" TEXT,
    "first_name" TEXT,
    "last_name" TEXT,
    -- owner | admin | developer | viewer, of the account: given by hand, and by groups. The higher one counts.
    "hand_role" TEXT,
    "group_role" TEXT,
    "disabled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_sign_in_at" TIMESTAMPTZ(3),
    -- The keys that the person has created stop at this time. Null: at none.
    "keys_valid_until" TIMESTAMPTZ(3),
    -- The names of the claims of the last sign-in, without values.
    "claim_names" TEXT[] NOT NULL DEFAULT '{}',

    CONSTRAINT "persons_pkey" PRIMARY KEY ("account_id","id")
);
CREATE UNIQUE INDEX "persons_id_key" ON "persons"("id");
CREATE UNIQUE INDEX "persons_account_id_issuer_subject_key" ON "persons"("account_id", "issuer", "subject");
CREATE INDEX "persons_account_id_created_at_id_idx" ON "persons"("account_id", "created_at", "id");
ALTER TABLE "persons" ADD CONSTRAINT "persons_account_id_fkey"
    FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE NO ACTION;

-- The role of a member is the higher of the one given by hand and the one of groups. Without either it is one given by hand.
ALTER TABLE "workspace_members" ADD COLUMN "hand_role" TEXT, ADD COLUMN "group_role" TEXT;
CREATE INDEX "workspace_members_user_id_idx" ON "workspace_members"("user_id");

-- A session is that of a key's secret, or that of a person.
ALTER TABLE "console_sessions"
    ALTER COLUMN "workspace_id" DROP NOT NULL,
    ALTER COLUMN "api_key_id" DROP NOT NULL,
    ALTER COLUMN "secret_hash" DROP NOT NULL,
    ADD COLUMN "account_id" UUID,
    ADD COLUMN "person_id" TEXT,
    ADD COLUMN "ends_at" TIMESTAMPTZ(3);
UPDATE "console_sessions" SET "ends_at" = "created_at" + INTERVAL '7 days';
ALTER TABLE "console_sessions"
    ALTER COLUMN "ends_at" SET NOT NULL,
    ADD CONSTRAINT "console_sessions_owner_check" CHECK (
        ("secret_hash" IS NULL) <> ("person_id" IS NULL)
        AND ("secret_hash" IS NULL) = ("api_key_id" IS NULL)
        AND ("secret_hash" IS NULL) = ("workspace_id" IS NULL)
        AND ("person_id" IS NULL) = ("account_id" IS NULL)
    ),
    ADD CONSTRAINT "console_sessions_account_id_person_id_fkey" FOREIGN KEY ("account_id", "person_id")
    REFERENCES "persons"("account_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
CREATE INDEX "console_sessions_account_id_person_id_created_at_idx" ON "console_sessions"("account_id", "person_id", "created_at");
DROP INDEX "console_sessions_created_at_idx";
CREATE INDEX "console_sessions_ends_at_idx" ON "console_sessions"("ends_at");

-- A key that a person has made for himself stops when the person leaves.
ALTER TABLE "api_keys" ADD COLUMN "ends_with_creator" BOOLEAN NOT NULL DEFAULT false;

-- A change is made by a key or by a person.
ALTER TABLE "audit_log" ALTER COLUMN "actor_hash" DROP NOT NULL, ADD COLUMN "actor_user_id" TEXT;
ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_actor_check"
    CHECK ("actor_hash" IS NULL OR "actor_user_id" IS NULL) NOT VALID;
-- The hash of a key, or the id of a person.
ALTER TABLE "preset_versions" ALTER COLUMN "creator_hash" TYPE TEXT;
ALTER TABLE "guardrail_assignments" ADD COLUMN "assigned_by" TEXT;

-- Every process caches persons by their id. The end of a person's keys concerns callers, which are cached by their secret.
CREATE FUNCTION notify_person_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('person_changed', NEW."id");
    IF TG_OP = 'INSERT' THEN
        RETURN NULL;
    END IF;
    IF NEW."disabled_at" IS NOT NULL AND OLD."disabled_at" IS NULL THEN
        DELETE FROM "console_sessions" WHERE "account_id" = NEW."account_id" AND "person_id" = NEW."id";
    END IF;
    IF NEW."disabled_at" IS DISTINCT FROM OLD."disabled_at"
        OR NEW."keys_valid_until" IS DISTINCT FROM OLD."keys_valid_until" THEN
        PERFORM pg_notify('api_key_changed', secret."secret_hash") FROM "workspaces" AS workspace
            JOIN "api_keys" AS key ON key."workspace_id" = workspace."id" AND key."creator_user_id" = NEW."id"
            JOIN "api_key_secrets" AS secret ON secret."workspace_id" = key."workspace_id" AND secret."api_key_id" = key."id"
            WHERE workspace."account_id" = NEW."account_id";
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "persons_changed" AFTER INSERT OR UPDATE ON "persons"
    FOR EACH ROW EXECUTE FUNCTION notify_person_changed();

CREATE FUNCTION notify_member_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed "workspace_members"%ROWTYPE := coalesce(NEW, OLD);
BEGIN
    -- Members that are no persons gain no rights.
    IF changed."user_id" LIKE 'usr\_%' THEN
        PERFORM pg_notify('person_changed', changed."user_id");
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "workspace_members_changed" AFTER INSERT OR UPDATE OR DELETE ON "workspace_members"
    FOR EACH ROW EXECUTE FUNCTION notify_member_changed();
