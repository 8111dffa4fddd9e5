// The SQL for Snowflake. Names from the config are quoted, so that a name cannot become SQL.
import { COLUMNS } from './columns.js';
import type { Column } from './columns.js';

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_$]*$/;
const QUOTED_NAME = /^"((?:[^"]|"")+)"$/;

/**
 * A name as Snowflake stores it: an unquoted name in upper case, a double-quoted one without its quotes, anything else
 * unchanged.
 */
export function storedName(name: string): string {
  if (PLAIN_NAME.test(name)) return name.toUpperCase();
  return QUOTED_NAME.exec(name)?.[1]?.replaceAll('""', '"') ?? name;
}

function quoted(storedTable: string): string {
  return `"${storedTable.replaceAll('"', '""')}"`;
}

export function describeStatement(table: string): string {
  return `DESCRIBE TABLE ${quoted(storedName(table))}`;
}

// The key of a row. With the time the merge scans few partitions: rows of one time are stored together.
const KEY = ['TIMESTAMP', 'TRACE_ID', 'SPAN_ID'];

const SELECTED = COLUMNS.map((column) => `    ${expressionOf(column)} AS "${column.name}"`).join(',\n');
const MATCHED = KEY.map((name) => `target."${name}" = source."${name}"`).join(' AND ');
const NAMES = COLUMNS.map(({ name }) => `"${name}"`).join(', ');
const VALUES = COLUMNS.map(({ name }) => `source."${name}"`).join(', ');

/**
 * Stores the rows of a JSON array, its one bind, that the table lacks: a second run changes nothing. An INSERT with
 * VALUES cannot fill a VARIANT, hence the SELECT.
 */
export function mergeStatement(table: string): string {
  return `MERGE INTO ${quoted(storedName(table))} AS target
USING (
  SELECT
${SELECTED}
  FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?))) AS element
) AS source
ON ${MATCHED}
WHEN NOT MATCHED THEN INSERT (${NAMES})
VALUES (${VALUES})`;
}

function expressionOf({ name, type: { snowflake } }: Column): string {
  const member = `element.value:"${name}"`;
  if (snowflake === 'VARIANT') return member;
  // From milliseconds, because the parsing of a time text depends on account settings.
  if (snowflake.startsWith('TIMESTAMP')) return `TO_TIMESTAMP_NTZ(${member}::NUMBER, 3)`;
  return `${member}::${snowflake}`;
}
