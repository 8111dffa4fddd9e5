-- The log's own numbers: numbers of transactions of the server that wrote, plus an offset. Servers count each for
-- themselves; without it, what is appended to a restored backup would lie before every cursor.

-- Whoever reads the whole log just now (pg_dump) must not make every call wait behind this.
SET LOCAL lock_timeout = '5s';

CREATE TABLE "log_offset" (
    "id" BOOLEAN NOT NULL DEFAULT true,
    "value" BIGINT NOT NULL,
    "home" TEXT NOT NULL,

    CONSTRAINT "log_offset_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "log_offset" ADD CONSTRAINT "log_offset_id_check" CHECK ("id");

-- Volatile: it must see an offset that rose while its statement waited for the lock of the table.
CREATE FUNCTION current_log_transaction() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT pg_current_xact_id()::text::bigint + "value" FROM "log_offset"
$$;
-- The snapshot of the calling statement, as pg_current_snapshot() writes it.
CREATE FUNCTION current_log_snapshot() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT concat_ws(':',
        pg_snapshot_xmin(snapshot)::text::bigint + "value",
        pg_snapshot_xmax(snapshot)::text::bigint + "value",
        coalesce((SELECT string_agg((open::text::bigint + "value")::text, ',' ORDER BY open::text::bigint)
            FROM pg_snapshot_xip(snapshot) AS open), ''))
    FROM "log_offset", pg_current_snapshot() AS snapshot
$$;

-- The server, the database, and the transaction that wrote the row of log_offset: by its xmin the row itself says whether
-- it is still the one that was written there, or one that was written anew in a copy.
CREATE FUNCTION log_home(transaction xid) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT concat_ws(':', system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database()), transaction)
    FROM pg_control_system()
$$;
CREATE FUNCTION is_log_at_home() RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT EXISTS (SELECT 1 FROM "log_offset" WHERE "home" = log_home(xmin))
$$;

-- Has a log that came here as a copy (restored, cloned, replicated) go on above every number that it can hold: no server
-- gets to 2^48 transactions, and 32,000 copies of copies fit in. Answers whether it was one.
-- The lock lets those end who have read the old offset, and makes the others wait for the new one. It comes first: to
-- take it after having read the table would be a deadlock of two callers.
CREATE FUNCTION settle_log() RETURNS boolean LANGUAGE plpgsql VOLATILE SET lock_timeout = '5s' AS $$
BEGIN
    LOCK TABLE "log_offset" IN ACCESS EXCLUSIVE MODE;
    IF is_log_at_home() THEN
        RETURN false;
    END IF;
    UPDATE "log_offset" SET "value" = (("value" >> 48) + 1) << 48, "home" = log_home(pg_current_xact_id()::xid);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'log_offset has lost its row; put it back with a value above every log_transaction of generations';
    END IF;
    RETURN true;
END $$;

-- A log of before this migration begins at home with the numbers that it has, unless they show that it was restored.
INSERT INTO "log_offset" ("value", "home")
SELECT CASE WHEN max("place") >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint THEN 1::bigint << 48 ELSE 0 END,
    log_home(pg_current_xact_id()::xid)
FROM (
    -- One look into the index for each workspace and partition: the whole log need not be read.
    SELECT last."log_transaction" AS "place" FROM "workspaces" AS workspace, LATERAL (
        SELECT "log_transaction" FROM "generations" WHERE "workspace_id" = workspace."id"
        ORDER BY "log_transaction" DESC, "log_ordinal" DESC LIMIT 1
    ) AS last
    UNION ALL SELECT "log_transaction" FROM "delivery_cursors"
) AS places;

-- The service's own statement names the number itself, once for all rows; the default is for every other writer.
ALTER TABLE "generations" ALTER COLUMN "log_transaction" SET DEFAULT current_log_transaction();
ALTER TABLE "generation_contents" ALTER COLUMN "log_transaction" SET DEFAULT current_log_transaction();
ALTER TABLE "delivery_cursors" ALTER COLUMN "start_snapshot" SET DEFAULT current_log_snapshot();

CREATE OR REPLACE FUNCTION move_delivery_cursors_to_end(workspace uuid, destination uuid) RETURNS void LANGUAGE sql AS $$
    UPDATE "delivery_cursors" SET
        "log_transaction" = pg_snapshot_xmin(log."snapshot"::pg_snapshot)::text::bigint - 1, "log_ordinal" = 2147483647,
        "start_snapshot" = log."snapshot",
        "failures" = 0, "next_attempt_at" = NULL, "paused_at" = NULL, "updated_at" = now()
    FROM (SELECT current_log_snapshot() AS "snapshot") AS log
    WHERE "workspace_id" = workspace AND (destination IS NULL OR "destination_id" = destination)
$$;
