-- The log is partitioned by UTC day, like its contents, and partitions beyond the retention can be dropped. A partition of a
-- whole month that has rows stays, and ages out whole.

-- The partitions of a table with their bounds, without the default one.
CREATE FUNCTION time_partitions(parent text) RETURNS TABLE (partition text, starts timestamptz, ends timestamptz)
LANGUAGE sql STABLE SET timezone = 'UTC' AS $$
    SELECT relname::text, (regexp_match(bounds, 'FROM \(''([^'']+)''\)'))[1]::timestamptz,
        (regexp_match(bounds, 'TO \(''([^'']+)''\)'))[1]::timestamptz
    FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        CROSS JOIN LATERAL pg_get_expr(relpartbound, inhrelid) AS bounds
    WHERE inhparent = to_regclass(quote_ident(parent)) AND bounds <> 'DEFAULT'
$$;

-- As before, but without a warning for a day that the partition of its month covers.
CREATE OR REPLACE FUNCTION create_time_partition(parent text, starts timestamptz, ends timestamptz, suffix text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    partition text := parent || '_' || suffix;
BEGIN
    IF to_regclass(quote_ident(partition)) IS NOT NULL OR EXISTS (
        SELECT FROM time_partitions(parent) AS made
        WHERE made.starts <= create_time_partition.starts AND made.ends >= create_time_partition.ends
    ) THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)', partition, parent);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition, starts, ends);
EXCEPTION
    -- The default partition holds rows of that time (they are moved), a part of it has a partition already, or the default
    -- partition is being read for long. The rows are where every reader finds them, and the other partitions are made all
    -- the same. The next call tries again.
    WHEN check_violation OR invalid_object_definition OR lock_not_available THEN
        RAISE WARNING 'partition % was not made: %', partition, SQLERRM;
END $$;

-- The day of `moment` and the next four: a service that cannot make partitions has as many days to be noticed.
CREATE OR REPLACE FUNCTION ensure_time_partitions(moment timestamptz) RETURNS void LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
    starts timestamp := date_trunc('day', moment AT TIME ZONE 'UTC');
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('signalbox.ensure_time_partitions'));
    FOR ahead IN 0..4 LOOP
        PERFORM create_time_partition(parent, starts AT TIME ZONE 'UTC', (starts + interval '1 day') AT TIME ZONE 'UTC',
            to_char(starts, 'YYYY_MM_DD')) FROM unnest(ARRAY['generations', 'generation_contents']) AS parent;
        starts := starts + interval '1 day';
    END LOOP;
END $$;

-- As before, but by day for every table: a version before this one still asks for months, whose partitions would take the
-- days that are made ahead.
CREATE OR REPLACE FUNCTION move_default_rows(parent text, unit text, most integer) RETURNS integer
LANGUAGE plpgsql SET lock_timeout = '500ms' SET timezone = 'UTC' AS $$
DECLARE
    rest text := parent || '_default';
    partition text;
    earliest timestamptz;
    period timestamptz;
    period_ends timestamptz;
    starts timestamptz;
    ends timestamptz;
    beyond timestamptz;
    moved integer;
    late integer;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('signalbox.ensure_time_partitions'));
    EXECUTE format('SELECT min(created_at) FROM ONLY %I', rest) INTO earliest;
    IF earliest IS NULL THEN
        RETURN 0;
    END IF;
    period := date_trunc('day', earliest);
    period_ends := period + interval '1 day';
    -- Between its neighbours: a part of the day may have a partition already.
    SELECT greatest(period, max(made.ends) FILTER (WHERE made.ends <= earliest)),
            least(period_ends, min(made.starts) FILTER (WHERE made.starts > earliest))
        INTO starts, ends FROM time_partitions(parent) AS made;
    EXECUTE format('SELECT created_at FROM ONLY %I WHERE created_at < $1 ORDER BY created_at OFFSET $2 LIMIT 1', rest)
        INTO beyond USING ends, most;
    IF beyond IS NOT NULL THEN
        ends := CASE WHEN beyond > earliest THEN beyond ELSE beyond + interval '1 millisecond' END;
    END IF;

    partition := parent || '_' || to_char(period, 'YYYY_MM_DD');
    IF ends < period_ends OR to_regclass(quote_ident(partition)) IS NOT NULL THEN
        partition := partition || '_from_' || to_char(starts, 'HH24MISSMS');
    END IF;
    -- The constraint spares attaching a look at every row.
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES,
        CONSTRAINT in_bounds CHECK (created_at >= %L AND created_at < %L))', partition, parent, starts, ends);
    EXECUTE format('WITH moved AS (DELETE FROM ONLY %I WHERE created_at >= $1 AND created_at < $2 RETURNING *)
        INSERT INTO %I SELECT * FROM moved', rest, partition) USING starts, ends;
    GET DIAGNOSTICS moved = ROW_COUNT;
    EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', parent);
    -- What was appended to it since.
    EXECUTE format('WITH moved AS (DELETE FROM ONLY %I WHERE created_at >= $1 AND created_at < $2 RETURNING *)
        INSERT INTO %I SELECT * FROM moved', rest, partition) USING starts, ends;
    GET DIAGNOSTICS late = ROW_COUNT;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition, starts, ends);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT in_bounds', partition);
    RETURN moved + late;
END $$;

-- The sums of dropped partitions, by key and day: the counters of keys, workspaces and accounts are these and the log. Days
-- that no window can reach any more are one row, of the day 1970-01-01.
CREATE TABLE "spend_history" (
    "workspace_id" UUID NOT NULL,
    "api_key_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "account_id" UUID NOT NULL,
    "cost" DECIMAL(30,12) NOT NULL,
    "byok_cost" DECIMAL(30,12) NOT NULL,

    CONSTRAINT "spend_history_pkey" PRIMARY KEY ("workspace_id", "api_key_id", "day")
);

-- What still has to read the partition: `deliveries`, `activity`, or null. An index look-up for each cursor and workspace.
-- The column `summed_before` marks the cursor of a rollup: it has summed the rows of all earlier transactions.
CREATE FUNCTION time_partition_reader(partition text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    rollup text;
    is_read boolean;
BEGIN
    EXECUTE format('SELECT EXISTS (
        SELECT FROM delivery_cursors AS cursor
        JOIN destinations AS destination
            ON destination.workspace_id = cursor.workspace_id AND destination.id = cursor.destination_id
        JOIN workspaces AS workspace ON workspace.id = cursor.workspace_id
        CROSS JOIN LATERAL (
            SELECT FROM %I AS entry WHERE entry.workspace_id = cursor.workspace_id
                AND entry.log_transaction BETWEEN cursor.log_transaction AND 9223372036854775807
                AND (entry.log_transaction, entry.log_ordinal) > (cursor.log_transaction, cursor.log_ordinal) LIMIT 1
        ) AS waiting
        WHERE destination.enabled AND destination.deleted_at IS NULL AND workspace.is_broadcast_enabled
    )', partition) INTO is_read;
    IF is_read THEN
        RETURN 'deliveries';
    END IF;
    FOR rollup IN SELECT attrelid::regclass::text FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE attname = 'summed_before' AND relkind = 'r' AND NOT attisdropped AND pg_table_is_visible(attrelid)
    LOOP
        EXECUTE format('SELECT EXISTS (
            SELECT FROM %s AS rollup CROSS JOIN workspaces AS workspace CROSS JOIN LATERAL (
                SELECT FROM %I AS entry WHERE entry.workspace_id = workspace.id
                    AND entry.log_transaction BETWEEN rollup.summed_before AND 9223372036854775807 LIMIT 1
            ) AS waiting
        )', rollup, partition) INTO is_read;
        IF is_read THEN
            RETURN 'activity';
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

-- Whether no statement has the table for long: the drop would wait for it in vain. A statement of its own, so that the
-- lock ends with it.
CREATE FUNCTION is_table_free(parent text) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '100ms' AS $$
BEGIN
    EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', parent);
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END $$;

-- Drops a partition and keeps its spend; false: another process does it, or it is gone.
--
-- DETACH ... CONCURRENTLY is refused while there is a default partition. So the drop locks the log, and its lock waits for
-- 0.1 s at most: appends behind it wait no longer than that, and then for changes of the catalogue alone. The files are
-- removed after the locks are released.
CREATE FUNCTION drop_time_partition(parent text, partition text) RETURNS boolean
LANGUAGE plpgsql SET lock_timeout = '100ms' SET timezone = 'UTC' AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtext('signalbox.drop_time_partition')) OR NOT EXISTS (
        SELECT FROM time_partitions(parent) AS made WHERE made.partition = drop_time_partition.partition
    ) THEN
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

-- Sums of days before the newest month and week of a key become one row. Of the windows that an owner of the key counts in,
-- none is older: it has a newer day, or the same.
CREATE FUNCTION fold_spend_history() RETURNS void LANGUAGE sql AS $$
    WITH newest AS (
        SELECT workspace_id, api_key_id, max(day)::timestamp AS day FROM spend_history
        GROUP BY workspace_id, api_key_id HAVING count(*) > 1
    ), folded AS (
        DELETE FROM spend_history AS history USING newest
        WHERE history.workspace_id = newest.workspace_id AND history.api_key_id = newest.api_key_id
            AND history.day > '1970-01-01'
            AND history.day < least(date_trunc('month', newest.day), date_trunc('week', newest.day))
        RETURNING history.*
    )
    INSERT INTO spend_history AS kept (workspace_id, api_key_id, day, account_id, cost, byok_cost)
    SELECT workspace_id, api_key_id, '1970-01-01', account_id, sum(cost), sum(byok_cost) FROM folded
    GROUP BY workspace_id, api_key_id, account_id
    ON CONFLICT (workspace_id, api_key_id, day) DO UPDATE
        SET cost = kept.cost + excluded.cost, byok_cost = kept.byok_cost + excluded.byok_cost
$$;

-- Retention of the audit log looks rows up by their age.
CREATE INDEX "audit_log_created_at_idx" ON "audit_log"("created_at");

-- Months that were made ahead and have no rows give way to days. A version before this one calls the functions above.
DO $$
DECLARE
    made record;
    has_rows boolean;
BEGIN
    LOCK TABLE ONLY "generations" IN ACCESS EXCLUSIVE MODE;
    FOR made IN SELECT * FROM time_partitions('generations') LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %I)', made.partition) INTO has_rows;
        IF NOT has_rows THEN
            EXECUTE format('DROP TABLE %I', made.partition);
        END IF;
    END LOOP;
END $$;
SELECT ensure_time_partitions(now());
