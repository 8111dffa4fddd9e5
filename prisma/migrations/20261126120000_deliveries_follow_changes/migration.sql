-- Rules that cannot be applied pause a destination as a wrong config does: new rules are tried at once as well.
CREATE OR REPLACE FUNCTION follow_destination_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW."enabled" AND NOT OLD."enabled" THEN
        PERFORM move_delivery_cursors_to_end(NEW."workspace_id", NEW."id");
    ELSIF OLD."enabled" AND NOT NEW."enabled" OR NEW."deleted_at" IS NOT NULL AND OLD."deleted_at" IS NULL THEN
        UPDATE "delivery_cursors" SET "next_attempt_at" = NULL
        WHERE "workspace_id" = NEW."workspace_id" AND "destination_id" = NEW."id";
    -- New credentials, a new address or new rules: what was paused may go on at once.
    ELSIF NEW."version" <> OLD."version"
        AND (NEW."config_ciphertext" <> OLD."config_ciphertext" OR NEW."filter_rules" IS DISTINCT FROM OLD."filter_rules") THEN
        UPDATE "delivery_cursors" SET "next_attempt_at" = NULL, "paused_at" = NULL, "failures" = 0
        WHERE "workspace_id" = NEW."workspace_id" AND "destination_id" = NEW."id";
    END IF;
    RETURN NULL;
END $$;

-- A replay can leave the cursor where it is and only take away what the cursor passes over: deliveries in progress have to
-- notice that as well.
CREATE TRIGGER "delivery_cursors_shown_more" AFTER UPDATE OF "start_snapshot" ON "delivery_cursors"
    FOR EACH ROW WHEN (NEW."start_snapshot" <> OLD."start_snapshot" AND NEW."log_transaction" >= OLD."log_transaction")
    EXECUTE FUNCTION notify_broadcast_terms_changed();
