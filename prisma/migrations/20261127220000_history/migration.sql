-- The copy of the log in ClickHouse: its cursor, and the end of the days that the log no longer has.

-- One row, or none: no process copies. The columns are those of the rollups' cursors, and the retention of the log waits for
-- it as for theirs (time_partition_reader finds it by `summed_before`).
CREATE TABLE "history_copy" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "summed_before" BIGINT NOT NULL DEFAULT 0,
    "pass_until" BIGINT NOT NULL DEFAULT 0,
    "pass_workspace_id" UUID NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'::uuid,
    "pass_transaction" BIGINT NOT NULL DEFAULT 0,
    "pass_ordinal" INTEGER NOT NULL DEFAULT 0,
    "mark_transaction" BIGINT NOT NULL DEFAULT 0,
    "marked_at" TIMESTAMPTZ(3),
    "copied_until" TIMESTAMPTZ(3),
    "target" TEXT,
    "owner" TEXT NOT NULL,
    "leased_until" TIMESTAMPTZ(3) NOT NULL,
    "renewed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "history_copy_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "history_copy_one_row" CHECK ("id" = 1)
);

-- One row. The end of the newest dropped partition of the log; null: none was dropped.
CREATE TABLE "log_begin" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "dropped_before" TIMESTAMPTZ(3),

    CONSTRAINT "log_begin_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "log_begin_one_row" CHECK ("id" = 1)
);
INSERT INTO "log_begin" DEFAULT VALUES;

-- As before, and the end of the partition is noted in the same transaction.
CREATE OR REPLACE FUNCTION drop_time_partition(parent text, partition text) RETURNS boolean
LANGUAGE plpgsql SET lock_timeout = '100ms' SET timezone = 'UTC' AS $$
DECLARE
    partition_ends timestamptz;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtext('signalbox.drop_time_partition')) THEN
        RETURN false;
    END IF;
    SELECT made.ends INTO partition_ends FROM time_partitions(parent) AS made
        WHERE made.partition = drop_time_partition.partition;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF parent = 'generations' THEN
        -- The transaction has no number before the first row is written, which is after all are read: readers of the log
        -- do not wait for the sums.
        EXECUTE format('INSERT INTO spend_history AS kept (workspace_id, api_key_id, day, account_id, cost, byok_cost)
            SELECT workspace_id, api_key_id, (created_at AT TIME ZONE ''UTC'')::date AS day, account_id,
                sum(coalesce(cost, 0)), sum(CASE WHEN is_byok THEN coalesce(upstream_cost, 0) ELSE 0 END)
            FROM ONLY %I GROUP BY workspace_id, api_key_id, day, account_id
            HAVING sum(coalesce(cost, 0)) <> 0
                OR sum(CASE WHEN is_byok THEN coalesce(upstream_cost, 0) ELSE 0 END) <> 0
            ON CONFLICT (workspace_id, api_key_id, day) DO UPDATE
                SET cost = kept.cost + excluded.cost, byok_cost = kept.byok_cost + excluded.byok_cost', partition);
        UPDATE log_begin SET dropped_before = greatest(dropped_before, partition_ends);
    END IF;
    FOR attempt IN 1..5 LOOP
        BEGIN
            EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', parent);
            EXECUTE format('DROP TABLE %I', partition);
            RETURN true;
        EXCEPTION WHEN lock_not_available THEN
            IF attempt = 5 THEN
                RAISE;
            END IF;
            PERFORM pg_sleep(0.2);
        END;
    END LOOP;
    RETURN false;
END $$;
