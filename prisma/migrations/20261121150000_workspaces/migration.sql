-- Workspaces that can be deleted, and their members.

ALTER TABLE "workspaces" ALTER COLUMN "slug" DROP NOT NULL, ADD COLUMN "deleted_at" TIMESTAMPTZ(3);

CREATE TABLE "workspace_members" (
    "workspace_id" UUID NOT NULL,
    "user_id" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workspace_members_pkey" PRIMARY KEY ("workspace_id","user_id")
);

ALTER TABLE "workspace_members" ADD CONSTRAINT "workspace_members_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "workspaces"
    ADD CONSTRAINT "workspaces_slug_check" CHECK (("slug" IS NULL) = ("deleted_at" IS NOT NULL));
ALTER TABLE "workspace_members"
    ADD CONSTRAINT "workspace_members_role_check" CHECK ("role" IN ('admin', 'member'));

-- Nothing is made in a deleted workspace. The lock waits for a deletion that is under way, and a deletion waits for it:
-- so whoever deletes a workspace sees every key that was made in it before. SB001 is a state of this service's own.
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
CREATE TRIGGER "api_keys_not_in_deleted_workspace" BEFORE INSERT ON "api_keys"
    FOR EACH ROW EXECUTE FUNCTION refuse_deleted_workspace();
CREATE TRIGGER "destinations_not_in_deleted_workspace" BEFORE INSERT ON "destinations"
    FOR EACH ROW EXECUTE FUNCTION refuse_deleted_workspace();
CREATE TRIGGER "provider_credentials_not_in_deleted_workspace" BEFORE INSERT ON "provider_credentials"
    FOR EACH ROW EXECUTE FUNCTION refuse_deleted_workspace();
