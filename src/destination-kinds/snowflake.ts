// Snowflake: one row per generation, through the SQL API. The table is the user's: docs/destinations/snowflake.md.
import { TextField } from './shared/config-fields.js';
import type { DeliveryRequest, DeliveryResponse, KindDelivery } from './shared/delivery.js';
import {
  answerMembers,
  batchIdOf,
  describeAnswer,
  probeIdOf,
  problemUnless,
} from './shared/delivery-outcome.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { missingColumns, rowOf } from './tables/columns.js';
import type { RowFormat } from './tables/columns.js';
import { readSnowflakeAnswer } from './tables/snowflake-answer.js';
import { describeStatement, mergeStatement, storedName } from './tables/snowflake-statements.js';
import { wellFormedJson } from './tables/well-formed-json.js';

const DEFAULT_TABLE = 'OPENROUTER_TRACES';
const ACCOUNT = /^[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*$/;

export class SnowflakeConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = [
    'content-type',
    'authorization',
    'x-snowflake-authorization-token-type',
    'accept',
    'user-agent',
    'x-signalbox-question',
  ];

  @TextField({
    description: 'Account identifier.',
    maxLength: 255,
    pattern: ACCOUNT,
    patternMessage: 'must be letters, digits and underscores, joined by single dots or hyphens',
  })
  account: string;

  @TextField({ description: 'Programmatic access token.', secret: 'masked', header: 'as it is' })
  token: string;

  @TextField({
    description: 'Database that holds the table.',
    allowEmpty: true,
    default: 'SNOWFLAKE_LEARNING_DB',
  })
  database = 'SNOWFLAKE_LEARNING_DB';

  @TextField({ description: 'Schema that holds the table.', allowEmpty: true, default: 'PUBLIC' })
  schema = 'PUBLIC';

  @TextField({
    description: 'Table that rows are merged into.',
    allowEmpty: true,
    default: DEFAULT_TABLE,
  })
  table = DEFAULT_TABLE;

  @TextField({ description: 'Warehouse that runs the statements.', allowEmpty: true, default: 'COMPUTE_WH' })
  warehouse = 'COMPUTE_WH';
}

const ROW_FORMAT: RowFormat = { time: (moment) => moment.getTime(), json: (value) => value };
/** Seconds that a statement may take, waking the warehouse included. */
const STATEMENT_TIMEOUT = 120;

const snowflakeDelivery: KindDelivery<SnowflakeConfig> = {
  limits: {
    maxTraces: 5000,
    maxBytes: 8 * 1024 * 1024,
    // Every statement wakes the warehouse, which is then paid for by the minute.
    linger: 60_000,
    // The API keeps a statement's request open for 45 seconds before it says 202.
    timeout: 60_000,
  },
  addresses: (config) => [originOf(config)],
  encode: (config, traces, { destinationId }) => {
    const rows = wellFormedJson(traces.map((trace) => rowOf(trace, ROW_FORMAT)));
    return [statement(config, batchIdOf(destinationId, traces), mergeStatement(tableOf(config)), rows)];
  },
  read: (response, request, _config, context) => readSnowflakeAnswer(response, request, context),
  probe: (config, context) => {
    const step = (text: string, bind?: string): DeliveryRequest =>
      statement(config, probeIdOf(context, text), text, bind);
    return [
      { request: step('SELECT 1'), problem: problemUnlessTaken },
      {
        request: step(describeStatement(tableOf(config))),
        problem: (response) => problemUnlessDone(response) ?? problemOfColumns(response),
      },
      // No rows: whether they would be taken.
      { request: step(mergeStatement(tableOf(config)), '[]'), problem: problemUnlessTaken },
    ];
  },
};

export const snowflake: DestinationKind<SnowflakeConfig> = {
  type: 'snowflake',
  neutralType: 'kind_14',
  platform: 'Snowflake',
  configClass: SnowflakeConfig,
  delivery: snowflakeDelivery,
  example: { account: 'myorg-account1', token: 'ver:1-hint:0123456789-ETMs' },
};

/** An account identifier, or the host that it stands in. */
function originOf({ account }: SnowflakeConfig): string {
  // Names of accounts may have underscores, names of hosts may not.
  const host = account.toLowerCase().replaceAll('_', '-');
  return `https://${/\.snowflakecomputing\.(?:com|cn)$/.test(host) ? host : `${host}.snowflakecomputing.com`}`;
}

function tableOf({ table }: SnowflakeConfig): string {
  return table || DEFAULT_TABLE;
}

/** The same request id tells Snowflake that a statement is not a new one. */
function statement(config: SnowflakeConfig, requestId: string, text: string, bind?: string): DeliveryRequest {
  return {
    method: 'POST',
    url: `${originOf(config)}/api/v2/statements?requestId=${requestId}`,
    headers: {
      authorization: `Bearer ${config.token}`,
      'x-snowflake-authorization-token-type': 'PROGRAMMATIC_ACCESS_TOKEN',
      accept: 'application/json',
      'content-type': 'application/json',
      // Without one the API refuses.
      'user-agent': 'signalbox',
    },
    body: JSON.stringify({
      statement: text,
      timeout: STATEMENT_TIMEOUT,
      // Where one is empty, the user's own default counts.
      database: storedName(config.database) || undefined,
      schema: storedName(config.schema) || undefined,
      warehouse: storedName(config.warehouse) || undefined,
      ...(bind === undefined ? {} : { bindings: { 1: { type: 'TEXT', value: bind } } }),
    }),
  };
}

const problemUnlessDone = problemUnless((status) => status === 200);
// 202: what is wrong with a statement shows when it is compiled; this one waits for its warehouse, as deliveries do too.
const problemUnlessTaken = problemUnless((status) => status === 200 || status === 202);

function problemOfColumns(response: DeliveryResponse): string | null {
  const { data } = answerMembers(response);
  if (!Array.isArray(data)) return describeAnswer(response);
  return missingColumns(
    data.map((row: unknown) => (Array.isArray(row) ? row[0] : undefined)),
    'snowflake',
  );
}
