-- A config that is only encrypted anew has the same credentials and the same address: what was paused stays so. A change by
-- somebody has another version.
CREATE OR REPLACE FUNCTION follow_destination_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW."enabled" AND NOT OLD."enabled" THEN
        PERFORM move_delivery_cursors_to_end(NEW."workspace_id", NEW."id");
    ELSIF OLD."enabled" AND NOT NEW."enabled" OR NEW."deleted_at" IS NOT NULL AND OLD."deleted_at" IS NULL THEN
        UPDATE "delivery_cursors" SET "next_attempt_at" = NULL
        WHERE "workspace_id" = NEW."workspace_id" AND "destination_id" = NEW."id";
    -- New credentials or a new address: what was paused may go on at once.
    ELSIF NEW."config_ciphertext" <> OLD."config_ciphertext" AND NEW."version" <> OLD."version" THEN
        UPDATE "delivery_cursors" SET "next_attempt_at" = NULL, "paused_at" = NULL, "failures" = 0
        WHERE "workspace_id" = NEW."workspace_id" AND "destination_id" = NEW."id";
    END IF;
    RETURN NULL;
END $$;
