// The settings that every session of the service states for itself, whatever the role, the database, the server or a
// pooler says: those that change the meaning of a statement or the form of a value.

/** The driver itself states `client_encoding`. */
const NEEDED: Readonly<Record<string, string>> = {
  // Forms of values. Prisma sends and reads times in ISO form, without a zone.
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  xmloption: 'content',
  // Meaning of statements.
  standard_conforming_strings: 'on',
  backslash_quote: 'safe_encoding',
  transform_null_equals: 'off',
  array_nulls: 'on',
  quote_all_identifiers: 'off',
  row_security: 'on',
  restrict_nonsystem_relation_kind: '',
  exit_on_error: 'off',
  // Meaning of transactions.
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  lock_timeout: '0',
  idle_session_timeout: '0',
  // Migrations.
  check_function_bodies: 'on',
  default_table_access_method: 'heap',
  'plpgsql.extra_errors': 'none',
};

/** Poolers give these back to a client in every session (docs/operating.md#poolers). */
const KEPT_BY_POOLERS = new Set(['DateStyle', 'TimeZone', 'standard_conforming_strings']);

/** Bounds of calls, which an operator may set for the role or the database. Migrations and commands have none. */
const TIMEOUTS = ['statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'];

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const rowsOf = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map((pair) => `(${pair.map(literal).join(', ')})`)
    .join(', ');

/**
 * The schema of the service's tables: `wanted`, else the first one of the search path that has them, else the first one
 * that exists.
 */
const schemaOf = (wanted: string): string => `coalesce(${wanted}, (
    SELECT name FROM unnest(current_schemas(false)) WITH ORDINALITY AS path(name, place)
    WHERE to_regprocedure(quote_ident(name) || '.is_log_at_home()') IS NOT NULL ORDER BY place LIMIT 1
  ), current_schema())`;

/**
 * States the settings and reads the state of the server, in one round trip. A setting that has its value already is not
 * stated again, and one that this version of PostgreSQL does not have is left out. $1: the schema that the address names,
 * or null. $2: the process of the handshake. $3: milliseconds for a statement, 0: no bound.
 *
 * Behind a pooler statements have no bound: in transaction mode the session belongs to others as well.
 */
export const OPEN_SESSION = `
WITH tables AS MATERIALIZED (SELECT ${schemaOf('$1::text')} AS schema),
needed AS MATERIALIZED (
  SELECT name, value FROM (VALUES ${rowsOf(NEEDED)}) AS settings (name, value)
  UNION ALL SELECT 'search_path', quote_ident(schema) FROM tables
  UNION ALL SELECT name, CASE WHEN $3 = '0' THEN '0' WHEN name = 'statement_timeout' AND current_setting(name) = '0' THEN $3 END
    FROM unnest(ARRAY[${TIMEOUTS.map(literal).join(', ')}]) AS bounds (name) WHERE pg_backend_pid() = $2::int
),
stated AS MATERIALIZED (
  SELECT count(set_config(name, value, false)) FROM needed WHERE current_setting(name, true) <> value
)
SELECT pg_backend_pid() AS "processId", pg_is_in_recovery() AS "isStandby",
  current_setting('transaction_read_only') = 'on' AS "isReadOnly",
  current_setting('server_version_num')::int AS version, current_setting('server_version') AS "versionName",
  current_setting('server_encoding') AS encoding, current_setting('session_replication_role') AS "replicationRole",
  quote_ident(session_user) AS role, quote_ident(current_database()) AS database, current_setting('search_path') AS "searchPath", schema,
  has_schema_privilege(to_regnamespace(quote_ident(schema))::oid, 'CREATE') AS "mayCreate"
FROM tables, stated`;

/**
 * The settings that a session lacks before any are stated, as ALTER ROLE sets them: `name = 'value'`. Runs after RESET ALL,
 * in a transaction that is rolled back. $1: the schema of the service's tables.
 */
export const FIND_MISSING_SETTINGS = `
SELECT name || ' = ' || quote_literal(value) AS setting
FROM (VALUES ${rowsOf(Object.fromEntries(Object.entries(NEEDED).filter(([name]) => !KEPT_BY_POOLERS.has(name))))}) AS settings (name, value)
WHERE current_setting(name, true) <> value
UNION ALL SELECT 'search_path = ' || quote_ident($1::text) WHERE $1 IS DISTINCT FROM ${schemaOf('NULL')}`;
