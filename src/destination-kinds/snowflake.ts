// Snowflake: one row per generation, through the SQL API. The user owns the table: docs/destinations/snowflake.md.
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
import { wellFormedJson, withoutNul } from '../domain/text/well-formed-json.js';

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
/** Seconds for one statement, including the start of the warehouse. */
const STATEMENT_TIMEOUT = 120;

const snowflakeDelivery: KindDelivery<SnowflakeConfig> = {
  limits: {
    maxTraces: 5000,
    maxBytes: 8 * 1024 * 1024,
    // Every statement starts the warehouse, which is billed by the minute.
    linger: 60_000,
    // The API keeps a request open for 45 seconds before it answers 202.
    timeout: 60_000,
  },
  addresses: (config) => [originOf(config)],
  encode: (config, traces, { destinationId }) => {
    // A VARIANT with U+0000 cannot be read.
    const rows = withoutNul(wellFormedJson(traces.map((trace) => rowOf(trace, ROW_FORMAT))));
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
      // A merge without rows proves the right to write.
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

/** An account identifier, or its host. */
function originOf({ account }: SnowflakeConfig): string {
  // Account names may contain underscores; host names may not.
  const host = account.toLowerCase().replaceAll('_', '-');
  return `https://${/\.snowflakecomputing\.(?:com|cn)$/.test(host) ? host : `${host}.snowflakecomputing.com`}`;
}

function tableOf({ table }: SnowflakeConfig): string {
  return table || DEFAULT_TABLE;
}

/** Snowflake recognises a repeated statement by its request id. */
function statement(config: SnowflakeConfig, requestId: string, text: string, bind?: string): DeliveryRequest {
  return {
    method: 'POST',
    url: `${originOf(config)}/api/v2/statements?requestId=${requestId}`,
    headers: {
      authorization: `Bearer ${config.token}`,
      'x-snowflake-authorization-token-type': 'PROGRAMMATIC_ACCESS_TOKEN',
      accept: 'application/json',
      'content-type': 'application/json',
      // The API refuses requests without this header.
      'user-agent': 'signalbox',
    },
    body: JSON.stringify({
      statement: text,
      timeout: STATEMENT_TIMEOUT,
      // An empty name selects the user's default.
      database: storedName(config.database) || undefined,
      schema: storedName(config.schema) || undefined,
      warehouse: storedName(config.warehouse) || undefined,
      ...(bind === undefined ? {} : { bindings: { 1: { type: 'TEXT', value: bind } } }),
    }),
  };
}

const problemUnlessDone = problemUnless((status) => status === 200);
// 202: compiled without errors; the statement waits for its warehouse, like deliveries do.
const problemUnlessTaken = problemUnless((status) => status === 200 || status === 202);

function problemOfColumns(response: DeliveryResponse): string | null {
  const { data } = answerMembers(response);
  if (!Array.isArray(data)) return describeAnswer(response);
  return missingColumns(
    data.map((row: unknown) => (Array.isArray(row) ? row[0] : undefined)),
    'snowflake',
  );
}
