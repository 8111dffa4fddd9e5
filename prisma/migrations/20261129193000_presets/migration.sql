-- Presets: settings of model calls that a workspace keeps under a name, in versions that never change.
CREATE TABLE "presets" (
    "workspace_id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    -- active | disabled | archived
    "status" TEXT NOT NULL DEFAULT 'active',
    -- Null: it has had one status only.
    "status_updated_at" TIMESTAMPTZ(3),
    -- The version that calls use.
    "designated_version" INTEGER NOT NULL,
    -- Versions are numbered from 1 without gaps.
    "latest_version" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "presets_pkey" PRIMARY KEY ("workspace_id","slug")
);
CREATE UNIQUE INDEX "presets_id_key" ON "presets"("id");
ALTER TABLE "presets" ADD CONSTRAINT "presets_account_id_workspace_id_fkey"
    FOREIGN KEY ("account_id", "workspace_id") REFERENCES "workspaces"("account_id", "id") ON DELETE RESTRICT ON UPDATE NO ACTION;

CREATE TABLE "preset_versions" (
    "preset_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    -- A JSON object in the form of a chat completion. A text: its numbers keep their digits.
    "config" TEXT NOT NULL,
    "system_prompt" TEXT,
    -- The hash of the key that made it.
    "creator_hash" CHAR(64) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "preset_versions_pkey" PRIMARY KEY ("preset_id","version")
);
ALTER TABLE "preset_versions" ADD CONSTRAINT "preset_versions_preset_id_fkey"
    FOREIGN KEY ("preset_id") REFERENCES "presets"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- Every process caches presets. The payload is the key of their cache.
CREATE FUNCTION notify_preset_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed "presets"%ROWTYPE := coalesce(NEW, OLD);
BEGIN
    PERFORM pg_notify('preset_changed', changed."workspace_id"::text || ' ' || changed."slug");
    RETURN NULL;
END $$;
CREATE TRIGGER "presets_changed" AFTER INSERT OR UPDATE OR DELETE ON "presets"
    FOR EACH ROW EXECUTE FUNCTION notify_preset_changed();
