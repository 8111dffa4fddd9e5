// ClickHouse: one row per generation, through the HTTP interface. The user owns the table:
// docs/destinations/clickhouse.md.
import { TextField, headerBytes } from './shared/config-fields.js';
import type { DeliveryRequest, KindDelivery, ProbeStep } from './shared/delivery.js';
import { answerMembers, batchIdOf, describeAnswer, normaliseAddress } from './shared/delivery-outcome.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { exceptionCodeOf, readClickhouseAnswer } from './tables/clickhouse-answer.js';
import { missingColumns, rowOf } from './tables/columns.js';
import type { RowFormat } from './tables/columns.js';
import { wellFormedJson } from '../domain/text/well-formed-json.js';

const DEFAULT_TABLE = 'OPENROUTER_TRACES';

export class ClickhouseConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = ['content-type', 'x-clickhouse-user', 'x-clickhouse-key'];

  @TextField({ description: 'HTTP endpoint with scheme and port.', address: 'public' })
  host: string;

  @TextField({ description: 'Database that holds the table.' })
  database: string;

  @TextField({ description: 'User name; `default` when none was set.', header: 'utf-8' })
  username: string;

  @TextField({ description: 'Password of the user.', secret: 'password', header: 'utf-8' })
  password: string;

  @TextField({
    description: 'Table that rows are inserted into.',
    allowEmpty: true,
    default: DEFAULT_TABLE,
  })
  table = DEFAULT_TABLE;
}

const ROW_FORMAT: RowFormat = {
  // With the zone: ClickHouse reads a time without one in the server's zone.
  time: (moment) => moment.toISOString().replace('T', ' '),
  json: wellFormedJson,
};

// Every engine has these settings, with different defaults.
const INSERT_SETTINGS = {
  // The response comes when the rows are stored. An asynchronous insert would ignore the deduplication token.
  async_insert: '0',
  // A table may lack columns of these rows.
  input_format_skip_unknown_fields: '1',
  date_time_input_format: 'best_effort',
};

const NO_DATA_TO_INSERT = 108;

const clickhouseDelivery: KindDelivery<ClickhouseConfig> = {
  limits: { maxTraces: 5000, maxBytes: 8 * 1024 * 1024, linger: 1000, timeout: 30_000 },
  addresses: ({ host }) => [normaliseAddress(host)],
  encode: (config, traces, { destinationId }) => {
    const rows = traces.map((trace) => wellFormedJson(rowOf(trace, ROW_FORMAT)));
    // The token prevents duplicates when an insert was stored and only its response was lost.
    const token = { insert_deduplication_token: batchIdOf(destinationId, traces) };
    return [insert(config, rows.join('\n'), token)];
  },
  read: (response, _request, _config, context) => readClickhouseAnswer(response, context),
  probe: (config) => [
    {
      request: query(config, 'GET', 'SELECT 1'),
      problem: (response) =>
        response.body.toString('latin1').trim() === '1' ? null : describeAnswer(response),
    },
    describeTable(config),
    // An insert without rows proves the right to insert. Some engines report the missing rows after all other checks.
    {
      request: insert(config, '', {}),
      problem: (response) =>
        response.status === 200 || exceptionCodeOf(response) === NO_DATA_TO_INSERT
          ? null
          : describeAnswer(response),
    },
  ],
};

export const clickhouse: DestinationKind<ClickhouseConfig> = {
  type: 'clickhouse',
  neutralType: 'kind_03',
  platform: 'ClickHouse',
  configClass: ClickhouseConfig,
  delivery: clickhouseDelivery,
  example: {
    host: 'https://abc.clickhouse.cloud:8443',
    database: 'default',
    username: 'default',
    password: 'correct-horse-battery',
  },
};

function insert(config: ClickhouseConfig, rows: string, settings: Record<string, string>): DeliveryRequest {
  const statement = `INSERT INTO ${tableOf(config)} FORMAT JSONEachRow`;
  return { ...query(config, 'POST', statement, { ...INSERT_SETTINGS, ...settings }), body: rows };
}

function describeTable(config: ClickhouseConfig): ProbeStep {
  return {
    request: query(config, 'GET', `DESCRIBE TABLE ${tableOf(config)} FORMAT JSON`),
    problem: (response) => {
      const { data } = answerMembers(response);
      if (response.status !== 200 || !Array.isArray(data)) return describeAnswer(response);
      return missingColumns(
        data.map((column: { name?: unknown } | null) => column?.name),
        'clickhouse',
      );
    },
  };
}

function query(
  { host, database, username, password }: ClickhouseConfig,
  method: 'GET' | 'POST',
  statement: string,
  settings: Record<string, string> = {},
): DeliveryRequest {
  const parameters = Object.entries({ database, query: statement, ...settings })
    .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
    .join('&');
  return {
    method,
    url: `${normaliseAddress(host)}/?${parameters}`,
    headers: { 'x-clickhouse-user': headerBytes(username), 'x-clickhouse-key': headerBytes(password) },
  };
}

/** Quotes names with backticks, so that a name cannot become SQL. A table may include its database: `traces.calls`. */
function tableOf({ table }: ClickhouseConfig): string {
  return (table || DEFAULT_TABLE)
    .split('.')
    .map((name) => `\`${name.replace(/[\\`]/g, '\\$&')}\``)
    .join('.');
}
