-- Rows of the default partition move to partitions of their own. While they stay, the partition of their month or day
-- cannot be made, every reader of the log looks through them, and no retention removes them.

-- Moves at most `most` rows (more where they are of one millisecond) of the earliest month or day (`unit`) that the
-- default partition holds, and answers how many: 0 when it holds none. One that has more rows is made of several
-- partitions, one for each call, each from where the one before ends.
--
-- A row is in the one partition or in the other for every statement. A statement that has begun to plan knows the
-- partitions of then, and the rows of its own, later snapshot: moved rows would be in none of them. So the switch waits
-- for every statement on the log and holds new ones back, for as long as attaching takes; rows are copied before.
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
    period := date_trunc(unit, earliest);
    period_ends := period + ('1 ' || unit)::interval;
    -- Between its neighbours: a part of the period may have a partition already.
    SELECT greatest(period, max(upper_bound) FILTER (WHERE upper_bound <= earliest)),
            least(period_ends, min(lower_bound) FILTER (WHERE lower_bound > earliest))
        INTO starts, ends
        FROM (
            SELECT (regexp_match(bounds, 'FROM \(''([^'']+)''\)'))[1]::timestamptz AS lower_bound,
                (regexp_match(bounds, 'TO \(''([^'']+)''\)'))[1]::timestamptz AS upper_bound
            FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
                CROSS JOIN LATERAL pg_get_expr(relpartbound, inhrelid) AS bounds
            WHERE inhparent = parent::regclass
        ) AS neighbours;
    EXECUTE format('SELECT created_at FROM ONLY %I WHERE created_at < $1 ORDER BY created_at OFFSET $2 LIMIT 1', rest)
        INTO beyond USING ends, most;
    IF beyond IS NOT NULL THEN
        ends := CASE WHEN beyond > earliest THEN beyond ELSE beyond + interval '1 millisecond' END;
    END IF;

    partition := parent || '_' || to_char(period, CASE unit WHEN 'month' THEN 'YYYY_MM' ELSE 'YYYY_MM_DD' END);
    IF ends < period_ends OR to_regclass(quote_ident(partition)) IS NOT NULL THEN
        partition := partition || '_from_' || to_char(starts, 'DDHH24MISSMS');
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

-- As before, but that a period may be made of several partitions already.
CREATE OR REPLACE FUNCTION create_time_partition(parent text, starts timestamptz, ends timestamptz, suffix text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    partition text := parent || '_' || suffix;
BEGIN
    IF to_regclass(quote_ident(partition)) IS NOT NULL THEN
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
