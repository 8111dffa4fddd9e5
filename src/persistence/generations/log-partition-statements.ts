// The statements about the partitions of the log: their creation ahead of time, and their end.
//
// Why plain SQL: partitions are made and dropped by functions of the database, which take the locks in their order.

/** The partitioned tables of the log. */
export const LOG_TABLES = ['generations', 'generation_contents'] as const;
export type LogTable = (typeof LOG_TABLES)[number];

/** $1 a moment. */
export const ENSURE_PARTITIONS = 'SELECT ensure_time_partitions($1)';

/** $1 a moment. The following days, up to the first that has no partition. */
export const COUNT_DAYS_AHEAD = `
SELECT coalesce(min(ahead), 5)::integer - 1 AS days FROM generate_series(1, 4) AS ahead
WHERE NOT EXISTS (
  SELECT FROM time_partitions('generations') AS made
  WHERE $1::timestamptz + make_interval(days => ahead) >= made.starts
    AND $1::timestamptz + make_interval(days => ahead) < made.ends
)`;

/** $1 a table, $2 a number of rows. */
export const MOVE_DEFAULT_ROWS = "SELECT move_default_rows($1, 'day', $2) AS moved";

/** $2 the time of this process. A clock that is ahead must not drop anything: the earlier of two clocks counts. */
const MOMENT = 'least(service_now(), $2::timestamptz)';

/** $1 a table, $2 a time, $3 the retention in hours. A moment that is not over yet came from a wrong clock. */
export const NOTE_RETENTION = `
INSERT INTO log_retention AS noted (table_name, hours, since) VALUES ($1, $3, ${MOMENT})
ON CONFLICT (table_name) DO UPDATE SET hours = excluded.hours, since = excluded.since
WHERE noted.hours <> excluded.hours OR noted.since > excluded.since`;

/** $1 a table, $2 a time, $3 the retention in hours. The oldest first. */
export const LIST_EXPIRED = `
SELECT partition, extract(epoch FROM clock.moment - made.ends)::float8 / 3600 - $3::integer AS hours
FROM time_partitions($1) AS made, (SELECT ${MOMENT} AS moment) AS clock
WHERE made.ends <= clock.moment - make_interval(hours => $3::integer) ORDER BY made.ends`;

/** $1 a table, $2 a time, $3 a partition. The hours since its reader, if any, can know that the partition goes. */
export const FIND_READER = `
SELECT time_partition_reader($3) AS reader,
  extract(epoch FROM ${MOMENT} - greatest(since, begun_at))::float8 / 3600 AS hours
FROM log_retention LEFT JOIN history_copy ON true WHERE table_name = $1`;

/** $1 a table. Whether no statement has the table for long. */
export const IS_TABLE_FREE = 'SELECT is_table_free($1) AS "isFree"';

/** $1 a table, $2 a partition. */
export const DROP_PARTITION = 'SELECT drop_time_partition($1, $2) AS "isDropped"';

/** Sums of partitions that are dropped, as one row of each counter. */
export const FOLD_SPEND_HISTORY = 'SELECT fold_spend_history()';
