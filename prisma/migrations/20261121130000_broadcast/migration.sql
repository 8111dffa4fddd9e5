-- Delivery: what operators see of each cursor, letters that could not be delivered, positions of stored contents.

ALTER TABLE "destinations" ADD COLUMN "needs_content" BOOLEAN NOT NULL DEFAULT true;

ALTER TABLE "delivery_cursors"
    ADD COLUMN "lease_session" INTEGER,
    ADD COLUMN "delivered" BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN "dropped" JSONB NOT NULL DEFAULT '{}',
    ADD COLUMN "failures" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "last_success_at" TIMESTAMPTZ(3),
    ADD COLUMN "last_error_at" TIMESTAMPTZ(3),
    ADD COLUMN "last_error_class" TEXT,
    ADD COLUMN "last_error_status" SMALLINT,
    ADD COLUMN "last_error_message" TEXT,
    ADD COLUMN "next_attempt_at" TIMESTAMPTZ(3),
    ADD COLUMN "paused_at" TIMESTAMPTZ(3),
    ADD COLUMN "start_snapshot" TEXT NOT NULL DEFAULT (pg_current_snapshot())::text;

CREATE TABLE "dead_letters" (
    "workspace_id" UUID NOT NULL,
    "destination_id" UUID NOT NULL,
    "generation_id" UUID NOT NULL,
    "generation_created_at" TIMESTAMPTZ(3) NOT NULL,
    "reason" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "replay_requested_at" TIMESTAMPTZ(3),

    CONSTRAINT "dead_letters_pkey" PRIMARY KEY ("workspace_id","destination_id","generation_id")
);

ALTER TABLE "generation_contents"
    ADD COLUMN "log_transaction" BIGINT NOT NULL DEFAULT ((pg_current_xact_id())::text)::bigint,
    ADD COLUMN "log_ordinal" INTEGER NOT NULL DEFAULT 0;

CREATE INDEX "delivery_cursors_next_attempt_at_idx" ON "delivery_cursors"("next_attempt_at");

CREATE INDEX "delivery_cursors_lease_owner_idx" ON "delivery_cursors"("lease_owner");

CREATE INDEX "dead_letters_workspace_id_destination_id_created_at_idx" ON "dead_letters"("workspace_id", "destination_id", "created_at");

CREATE INDEX "dead_letters_created_at_idx" ON "dead_letters"("created_at");

CREATE INDEX "generation_contents_workspace_id_log_transaction_log_ordina_idx" ON "generation_contents"("workspace_id", "log_transaction", "log_ordinal");

CREATE INDEX "generation_contents_created_at_idx" ON "generation_contents"("created_at");

ALTER TABLE "dead_letters" ADD CONSTRAINT "dead_letters_workspace_id_destination_id_fkey" FOREIGN KEY ("workspace_id", "destination_id") REFERENCES "destinations"("workspace_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- Every replica keeps in memory which destinations a workspace has; the database tells of every change. The payload is
-- the id of the workspace.
CREATE FUNCTION notify_broadcast_terms_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('broadcast_terms_changed', CASE TG_TABLE_NAME
        WHEN 'workspaces' THEN to_jsonb(NEW)->>'id'
        ELSE to_jsonb(coalesce(NEW, OLD))->>'workspace_id' END);
    RETURN NULL;
END $$;
CREATE TRIGGER "destinations_changed" AFTER INSERT OR UPDATE OR DELETE ON "destinations"
    FOR EACH ROW EXECUTE FUNCTION notify_broadcast_terms_changed();
CREATE TRIGGER "workspaces_broadcast_changed" AFTER UPDATE OF "is_broadcast_enabled" ON "workspaces"
    FOR EACH ROW EXECUTE FUNCTION notify_broadcast_terms_changed();
-- A dead letter that is asked for again is a change of what there is to deliver.
CREATE TRIGGER "dead_letters_replayed" AFTER UPDATE OF "replay_requested_at" ON "dead_letters"
    FOR EACH ROW WHEN (NEW."replay_requested_at" IS NOT NULL) EXECUTE FUNCTION notify_broadcast_terms_changed();
-- So is a cursor that is set back or let go on by an operator.
CREATE TRIGGER "delivery_cursors_set_back" AFTER UPDATE OF "log_transaction" ON "delivery_cursors"
    FOR EACH ROW WHEN (NEW."log_transaction" < OLD."log_transaction") EXECUTE FUNCTION notify_broadcast_terms_changed();

-- What happens while a destination, or the broadcasting of its workspace, is switched off is not forwarded: its cursor
-- goes to the end of the log when it is switched on again. The place is before every open transaction; what had been
-- committed by then is told apart by the snapshot.
CREATE FUNCTION move_delivery_cursors_to_end(workspace uuid, destination uuid) RETURNS void LANGUAGE sql AS $$
    UPDATE "delivery_cursors" SET
        "log_transaction" = (pg_snapshot_xmin(pg_current_snapshot())::text)::bigint - 1, "log_ordinal" = 2147483647,
        "start_snapshot" = pg_current_snapshot()::text,
        "failures" = 0, "next_attempt_at" = NULL, "paused_at" = NULL, "updated_at" = now()
    WHERE "workspace_id" = workspace AND (destination IS NULL OR "destination_id" = destination)
$$;
CREATE FUNCTION follow_destination_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW."enabled" AND NOT OLD."enabled" THEN
        PERFORM move_delivery_cursors_to_end(NEW."workspace_id", NEW."id");
    -- New credentials or a new address: what was paused may go on at once.
    ELSIF NEW."config_ciphertext" <> OLD."config_ciphertext" THEN
        UPDATE "delivery_cursors" SET "next_attempt_at" = NULL, "paused_at" = NULL, "failures" = 0
        WHERE "workspace_id" = NEW."workspace_id" AND "destination_id" = NEW."id";
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER "destinations_followed_by_cursor" AFTER UPDATE ON "destinations"
    FOR EACH ROW EXECUTE FUNCTION follow_destination_change();
CREATE FUNCTION follow_broadcast_switch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM move_delivery_cursors_to_end(NEW."id", NULL);
    RETURN NULL;
END $$;
CREATE TRIGGER "workspaces_followed_by_cursors" AFTER UPDATE OF "is_broadcast_enabled" ON "workspaces"
    FOR EACH ROW WHEN (NEW."is_broadcast_enabled" AND NOT OLD."is_broadcast_enabled")
    EXECUTE FUNCTION follow_broadcast_switch();
