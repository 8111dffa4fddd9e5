-- The patience of the retention begins when a reader can know of it, not only when the time of a partition is over.

-- One row for each table of the log: the hours of its retention (0: for ever), and the moment since which they hold. A
-- retention that is shortened makes many partitions overdue at once.
CREATE TABLE "log_retention" (
    "table_name" TEXT NOT NULL,
    "hours" INTEGER NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "log_retention_pkey" PRIMARY KEY ("table_name")
);

-- The moment of the first attempt to copy to these tables.
ALTER TABLE "history_copy" ADD COLUMN "begun_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now();

-- As before, and the history has a name of its own.
CREATE OR REPLACE FUNCTION time_partition_reader(partition text) RETURNS text LANGUAGE plpgsql STABLE AS $$
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
            RETURN CASE rollup WHEN 'history_copy' THEN 'history' ELSE 'activity' END;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

-- The retention removes sums of days that the log no longer has.
CREATE INDEX "activity_days_day_idx" ON "activity_days"("day");
CREATE INDEX "activity_key_days_day_idx" ON "activity_key_days"("day");
