-- Changes of the catalogue that hold without a restart. Rows are never changed: the layer of an entry is its newest revision of
-- the rank. A change holds one advisory lock while it takes its version, so that versions have no gaps and are in the order of
-- the commits: a process that has seen one has seen all before it.
CREATE TABLE "catalogue_revisions" (
    "version" BIGINT NOT NULL,
    -- operator
    "scope" TEXT NOT NULL,
    -- operator | imported
    "rank" TEXT NOT NULL,
    -- The list of a catalogue file: models | chat_models | rerank_models
    "kind" TEXT NOT NULL,
    "entry_id" TEXT NOT NULL,
    -- In the format of a catalogue file; null: the layer ends.
    "document" JSONB,
    -- The label of the key.
    "actor" TEXT NOT NULL,
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "catalogue_revisions_pkey" PRIMARY KEY ("version")
);
CREATE INDEX "catalogue_revisions_scope_kind_entry_id_rank_version_idx"
    ON "catalogue_revisions"("scope", "kind", "entry_id", "rank", "version");

-- One notification for all rows of a statement.
CREATE FUNCTION notify_catalogue_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('catalogue_changed', (SELECT max(version) FROM inserted)::text);
    RETURN NULL;
END $$;
CREATE TRIGGER catalogue_changed AFTER INSERT ON "catalogue_revisions"
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION notify_catalogue_changed();
