// Snowflake's SQL API over one table, the one of docs/destinations/snowflake.md. It takes apart the only statements that
// it knows. Source: Snowflake's pages "SQL API reference", "Handling errors", "MERGE", "FLATTEN".
import { isOneOf, isText } from '../providers/provider-stub.js';
import {
  areDistinct,
  generationIdOf,
  isCount,
  isNumber,
  isObject,
  isString,
  objectWith,
  readJson,
  rejection,
} from './json-checks.js';
import type { JsonObject } from './json-checks.js';
import { publishedTable } from './published-table.js';
import type { DestinationReceiver, ReceivedDelivery, ReceiverResult } from './receiver.js';

const CONFIG = { account: 'MyOrg-my_account1', token: 'ver:1-hint:0123456789-ETMsDgAAAZ' };
const { columns: COLUMNS } = publishedTable('snowflake');
const MAX_BIND_BYTES = 16 * 1024 * 1024;
const KEY = ['TIMESTAMP', 'TRACE_ID', 'SPAN_ID'];

const MERGE = new RegExp(
  [
    '^MERGE INTO "OPENROUTER_TRACES" AS target\\nUSING \\(\\n  SELECT\\n(?<selected>[^]+?)\\n',
    '  FROM TABLE\\(FLATTEN\\(INPUT => PARSE_JSON\\(\\?\\)\\)\\) AS element\\n\\) AS source\\n',
    'ON (?<matched>.+)\\nWHEN NOT MATCHED THEN INSERT \\((?<names>.+)\\)\\nVALUES \\((?<values>.+)\\)$',
  ].join(''),
);

/** How a column of this type is read out of a JSON object. */
function expressionFor(name: string, type: string): string {
  const member = `element.value:"${name}"`;
  if (type === 'VARIANT') return member;
  return type.startsWith('TIMESTAMP') ? `TO_TIMESTAMP_NTZ(${member}::NUMBER, 3)` : `${member}::${type}`;
}

function isMerge(statement: string): boolean {
  const parts = MERGE.exec(statement)?.groups;
  if (!parts) return false;
  const names = [...COLUMNS.keys()];
  const selected = [...COLUMNS].map(([name, type]) => `    ${expressionFor(name, type)} AS "${name}"`);
  return (
    parts['selected'] === selected.join(',\n') &&
    parts['names'] === names.map((name) => `"${name}"`).join(', ') &&
    parts['values'] === names.map((name) => `source."${name}"`).join(', ') &&
    parts['matched'] === KEY.map((name) => `target."${name}" = source."${name}"`).join(' AND ')
  );
}

function isCell(name: string, value: unknown): boolean {
  const type = COLUMNS.get(name) ?? '';
  if (type === 'VARIANT') return isObject(value);
  if (type.startsWith('TIMESTAMP') || type === 'NUMBER(18, 0)') return isCount(value);
  return type.startsWith('NUMBER') ? isNumber(value) : isString(value) && (value as string).isWellFormed();
}

const isRow = (row: unknown): row is JsonObject =>
  isObject(row) && Object.entries(row).every(([name, value]) => COLUMNS.has(name) && isCell(name, value));

const failure = (code: string, sqlState: string, message: string): ReceiverResult =>
  rejection(422, { code, sqlState, message, statementHandle: HANDLE, statementStatusUrl: STATUS_URL });
const HANDLE = '019c9fce-0502-f1fc-0000-438300e02412';
const STATUS_URL = `/api/v2/statements/${HANDLE}`;

const done = (data: readonly (readonly string[])[], stored: readonly string[] = []): ReceiverResult => ({
  reply: {
    status: 200,
    body: {
      code: '090001',
      sqlState: '00000',
      message: 'Statement executed successfully.',
      statementHandle: HANDLE,
      statementStatusUrl: STATUS_URL,
      resultSetMetaData: { numRows: data.length, format: 'jsonv2' },
      data,
    },
  },
  stored,
});

const isBody = objectWith(
  {
    statement: isText,
    timeout: isCount,
    database: isOneOf('SNOWFLAKE_LEARNING_DB'),
    schema: isOneOf('PUBLIC'),
    warehouse: isOneOf('COMPUTE_WH'),
  },
  { bindings: objectWith({ 1: objectWith({ type: isOneOf('TEXT'), value: isText }) }) },
);

interface Body {
  readonly statement: string;
  readonly bindings?: { readonly 1: { readonly value: string } };
}

function run({ statement, bindings }: Body): ReceiverResult {
  if (statement === 'SELECT 1') return done([['1']]);
  if (statement === 'DESCRIBE TABLE "OPENROUTER_TRACES"') {
    return done([...COLUMNS].map(([name, type]) => [name, type, 'COLUMN', 'Y']));
  }
  if (!isMerge(statement)) return failure('001003', '42000', 'SQL compilation error: syntax error');
  const bind = bindings?.[1].value ?? '';
  if (Buffer.byteLength(bind) > MAX_BIND_BYTES) return rejection(413);
  const rows = parsed(bind);
  if (!Array.isArray(rows) || !rows.every(isRow)) {
    return failure('100069', '22P02', `Error parsing JSON: ${bind.slice(0, 50)}`);
  }
  if (!areDistinct(rows.map((row) => KEY.map((name) => row[name]).join()))) {
    return failure('100090', '42P18', 'Duplicate row detected during DML action');
  }
  return done(
    [[String(rows.length)]],
    rows.map((row) => generationIdOf(row['GENERATION_ID'])),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const UNAUTHORIZED = { code: '390303', message: 'Invalid OAuth access token. ', success: false };

function check(request: ReceivedDelivery): ReceiverResult {
  const { method, path, headers } = request;
  const { pathname, searchParams } = new URL(path, 'https://snowflake');
  if (headers['x-snowflake-authorization-token-type'] !== 'PROGRAMMATIC_ACCESS_TOKEN') return rejection(401);
  if (headers.authorization !== `Bearer ${CONFIG.token}`) return rejection(401, UNAUTHORIZED);
  if (headers.accept !== 'application/json') return rejection(406);
  if (!headers['user-agent'])
    return rejection(400, { code: '391903', message: 'Missing user agent header.' });
  if (method === 'GET' && pathname === STATUS_URL) return done([['0']]);
  if (pathname !== '/api/v2/statements') return rejection(404);
  if (method !== 'POST') return rejection(405);
  const parameters = [...searchParams.keys()].join();
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(searchParams.get('requestId') ?? '');
  if (parameters !== 'requestId' || !isId)
    return rejection(400, { code: '391902', message: 'Bad requestId' });
  const body = readJson(request);
  if (!isBody(body)) return rejection(400, { code: '390142', message: 'Incoming request does not match' });
  return run(body as Body);
}

export const snowflakeReceiver: DestinationReceiver = {
  type: 'snowflake',
  config: CONFIG,
  expectedOrigin: 'https://myorg-my-account1.snowflakecomputing.com',
  configFor: () => null,
  check,
  failures: {
    unauthorized: { status: 401, body: UNAUTHORIZED },
    rateLimited: { status: 429, body: { code: '391902', message: 'Too many requests.' } },
    unavailable: { status: 503, body: '' },
  },
  partial: null,
};
