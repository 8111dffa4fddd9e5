// ClickHouse's HTTP interface over one table, the one of docs/destinations/clickhouse.md, with a user that may only
// insert. Source: ClickHouse's pages "HTTP Interface" and "JSONEachRow"; exceptions as a 26.7 engine words them.
import {
  areDistinct,
  generationIdOf,
  isCount,
  isNumber,
  isObject,
  isString,
  matches,
} from './json-checks.js';
import type { JsonObject } from './json-checks.js';
import { publishedTable } from './published-table.js';
import type { DestinationReceiver, ReceivedDelivery, ReceiverReply, ReceiverResult } from './receiver.js';

const CONFIG = {
  host: 'https://abc.eu-central-1.aws.clickhouse.cloud:8443',
  database: 'default',
  username: 'signalbox',
  password: 'correcthorse-battery-staple',
};
const TABLE = '`OPENROUTER_TRACES`';
const { columns: COLUMNS } = publishedTable('clickhouse');
const MAX_BYTES = 100_000_000;

const exception = (status: number, code: number, text: string): ReceiverReply => ({
  status,
  headers: { 'content-type': 'text/plain; charset=UTF-8', 'x-clickhouse-exception-code': String(code) },
  body: `Code: ${code}. DB::Exception: ${text} (version 26.7.2.1 (official build))`,
});
const no = (...args: Parameters<typeof exception>): ReceiverResult => ({
  reply: exception(...args),
  stored: [],
});
const yes = (body: string | object = '', stored: readonly string[] = []): ReceiverResult => ({
  reply: { status: 200, body },
  stored,
});

const UNAUTHORIZED = exception(
  403,
  516,
  'signalbox: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED)',
);
const JSON_COLUMNS = new Set(['ATTRIBUTES', 'METADATA', 'MODEL_PARAMETERS', 'INPUT', 'OUTPUT']);
const isTime = matches(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z$/);

function isCell(name: string, value: unknown): boolean {
  const type = COLUMNS.get(name) ?? '';
  if (JSON_COLUMNS.has(name)) return isString(value) && isObject(parse(value as string));
  if (type.startsWith('DateTime64')) return isTime(value);
  if (type === 'UInt64') return isCount(value);
  return /Float|Decimal/.test(type) ? isNumber(value) : isString(value) && (value as string).isWellFormed();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Columns that may not be left out are those that have no null. */
const isRow = (row: unknown): row is JsonObject =>
  isObject(row) &&
  Object.entries(row).every(([name, value]) => COLUMNS.has(name) && isCell(name, value)) &&
  [...COLUMNS].every(([name, type]) => type.includes('Nullable') || Object.hasOwn(row, name));

function insert({ bytes }: ReceivedDelivery, settings: URLSearchParams): ReceiverResult {
  const token = settings.get('insert_deduplication_token');
  const isSet =
    settings.get('async_insert') === '0' &&
    settings.get('input_format_skip_unknown_fields') === '1' &&
    settings.get('date_time_input_format') === 'best_effort';
  if (!isSet) return no(400, 36, 'A setting is missing. (BAD_ARGUMENTS)');
  if (bytes.length === 0) return token === null ? yes() : no(400, 36, 'A token of no rows. (BAD_ARGUMENTS)');
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(token ?? '')) {
    return no(400, 36, 'A batch without its token. (BAD_ARGUMENTS)');
  }
  const rows = bytes
    .toString('utf8')
    .split('\n')
    .map((line) => parse(line));
  if (!rows.every(isRow)) {
    return no(400, 117, `Cannot parse: ${bytes.toString('utf8', 0, 50)} (INCORRECT_DATA)`);
  }
  if (!areDistinct(rows.map((row) => [row['TIMESTAMP'], row['TRACE_ID'], row['SPAN_ID']].join()))) {
    return no(400, 469, 'The key of two rows is the same. (VIOLATED_CONSTRAINT)');
  }
  return yes(
    '',
    rows.map((row) => generationIdOf(row['GENERATION_ID'])),
  );
}

function check(request: ReceivedDelivery): ReceiverResult {
  const { method, path, headers, bytes } = request;
  const { pathname, searchParams } = new URL(path, 'http://clickhouse');
  if (pathname !== '/') return { reply: { status: 404, body: `There is no handle ${path}` }, stored: [] };
  const [username, password] = [headers['x-clickhouse-user'], headers['x-clickhouse-key']];
  if (username !== CONFIG.username || password !== CONFIG.password)
    return { reply: UNAUTHORIZED, stored: [] };
  if (bytes.length > MAX_BYTES) return { reply: { status: 413 }, stored: [] };
  const { database, query, ...others } = Object.fromEntries(searchParams);
  if (database !== CONFIG.database) {
    return no(404, 81, `Database ${database} does not exist. (UNKNOWN_DATABASE)`);
  }
  switch (query) {
    case 'SELECT 1':
      return yes('1\n');
    case `DESCRIBE TABLE ${TABLE} FORMAT JSON`:
      return yes({ data: [...COLUMNS].map(([name, type]) => ({ name, type })) });
    case `INSERT INTO ${TABLE} FORMAT JSONEachRow`:
      if (method !== 'POST') return no(500, 164, 'Cannot insert into table in readonly mode. (READONLY)');
      return insert(request, new URLSearchParams(others));
    default:
      return no(404, 60, 'Table does not exist. (UNKNOWN_TABLE)');
  }
}

export const clickhouseReceiver: DestinationReceiver = {
  type: 'clickhouse',
  config: CONFIG,
  expectedOrigin: CONFIG.host,
  configFor: (origin) => ({ ...CONFIG, host: origin }),
  check,
  failures: {
    unauthorized: UNAUTHORIZED,
    rateLimited: exception(
      500,
      202,
      'Too many simultaneous queries. Maximum: 100. (TOO_MANY_SIMULTANEOUS_QUERIES)',
    ),
    unavailable: exception(500, 242, 'Table is in readonly mode. (TABLE_IS_READ_ONLY)'),
  },
  partial: null,
};
