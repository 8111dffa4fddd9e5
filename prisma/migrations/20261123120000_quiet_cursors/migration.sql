-- What is switched off or deleted is not due for another attempt: whoever looks for what is due would come across it every
-- second, for ever.
CREATE OR REPLACE FUNCTION follow_destination_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW."enabled" AND NOT OLD."enabled" THEN
        PERFORM move_delivery_cursors_to_end(NEW."workspace_id", NEW."id");
    ELSIF OLD."enabled" AND NOT NEW."enabled" OR NEW."deleted_at" IS NOT NULL AND OLD."deleted_at" IS NULL THEN
        UPDATE "delivery_cursors" SET "next_attempt_at" = NULL
        WHERE "workspace_id" = NEW."workspace_id" AND "destination_id" = NEW."id";
    -- New credentials or a new address: what was paused may go on at once.
    ELSIF NEW."config_ciphertext" <> OLD."config_ciphertext" THEN
        UPDATE "delivery_cursors" SET "next_attempt_at" = NULL, "paused_at" = NULL, "failures" = 0
        WHERE "workspace_id" = NEW."workspace_id" AND "destination_id" = NEW."id";
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION follow_broadcast_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "delivery_cursors" SET "next_attempt_at" = NULL WHERE "workspace_id" = NEW."id";
    RETURN NULL;
END $$;
CREATE TRIGGER "workspaces_ended_by_cursors" AFTER UPDATE OF "is_broadcast_enabled" ON "workspaces"
    FOR EACH ROW WHEN (OLD."is_broadcast_enabled" AND NOT NEW."is_broadcast_enabled")
    EXECUTE FUNCTION follow_broadcast_end();

UPDATE "delivery_cursors" AS cursor SET "next_attempt_at" = NULL
FROM "destinations" AS destination, "workspaces" AS workspace
WHERE cursor."next_attempt_at" <= now()
    AND destination."workspace_id" = cursor."workspace_id" AND destination."id" = cursor."destination_id"
    AND workspace."id" = cursor."workspace_id"
    AND (NOT destination."enabled" OR destination."deleted_at" IS NOT NULL OR NOT workspace."is_broadcast_enabled");
