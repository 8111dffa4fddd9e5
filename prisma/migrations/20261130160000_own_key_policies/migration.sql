-- The bounds of keys that developers make for themselves in a workspace. Without a row they make none.
CREATE TABLE "own_key_policies" (
    "workspace_id" UUID NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    -- Of one person.
    "max_keys" INTEGER NOT NULL,
    -- USD. Null: no bound.
    "default_limit" DECIMAL(24,12),
    "max_limit" DECIMAL(24,12),
    -- daily | weekly | monthly. Null: never.
    "limit_reset" TEXT,
    -- Null: no bound.
    "max_days" INTEGER,
    "include_byok_in_limit" BOOLEAN NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "own_key_policies_pkey" PRIMARY KEY ("workspace_id")
);
ALTER TABLE "own_key_policies" ADD CONSTRAINT "own_key_policies_workspace_id_fkey"
    FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
