-- Roles of people by groups of their identity provider.
CREATE TABLE "group_mappings" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "issuer" TEXT NOT NULL,
    -- Compared byte by byte.
    "group_name" TEXT NOT NULL,
    -- Null: the role is for the whole account.
    "workspace_id" UUID,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "group_mappings_pkey" PRIMARY KEY ("account_id","id"),
    CONSTRAINT "group_mappings_role_check" CHECK (
        CASE WHEN "workspace_id" IS NULL THEN "role" IN ('owner', 'admin', 'developer', 'viewer')
        ELSE "role" IN ('admin', 'member', 'viewer') END
    )
);
-- One role for a group in one place.
CREATE UNIQUE INDEX "group_mappings_account_id_issuer_group_name_workspace_id_key"
    ON "group_mappings"("account_id", "issuer", "group_name", "workspace_id") NULLS NOT DISTINCT;
CREATE INDEX "group_mappings_account_id_workspace_id_idx" ON "group_mappings"("account_id", "workspace_id");
ALTER TABLE "group_mappings" ADD CONSTRAINT "group_mappings_account_id_fkey"
    FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE NO ACTION;
ALTER TABLE "group_mappings" ADD CONSTRAINT "group_mappings_account_id_workspace_id_fkey"
    FOREIGN KEY ("account_id", "workspace_id") REFERENCES "workspaces"("account_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- Members by a group may be viewers.
ALTER TABLE "workspace_members" DROP CONSTRAINT "workspace_members_role_check";
ALTER TABLE "workspace_members" ADD CONSTRAINT "workspace_members_role_check"
    CHECK ("role" IN ('admin', 'member', 'viewer')) NOT VALID;
ALTER TABLE "workspace_members" VALIDATE CONSTRAINT "workspace_members_role_check";
