// The durable log of generations, and the settling of their cost: one statement, one commit, many calls.
import { Injectable } from '@nestjs/common';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { Generation } from '../domain/generation.js';
import { formatUsd } from '../domain/money.js';
import { utcDay } from '../domain/spend.js';
import { BatchWriter } from './batch-writer.js';
import { Database } from './database.js';

const LIMITS = { maxBatch: 500, maxWaiting: 20_000 };

@Injectable()
export class GenerationLog implements BeforeApplicationShutdown {
  private readonly writer: BatchWriter<Generation>;

  constructor(private readonly database: Database) {
    this.writer = new BatchWriter((generations) => this.writeByDay(generations), LIMITS);
  }

  /** Resolves when the generation and its cost are committed: only then may the caller see the answer. */
  append(generation: Generation): Promise<void> {
    return this.writer.add(generation);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.writer.drain();
  }

  /** One statement settles one UTC day, so that it can say for each window whether it goes on or begins anew. */
  private async writeByDay(generations: readonly Generation[]): Promise<void> {
    for (const [day, ofDay] of groupByDay(generations)) {
      await this.database.query({
        name: 'append-generations',
        text: APPEND_AND_SETTLE,
        values: [JSON.stringify(ofDay.map(toRow)), day],
      });
    }
  }
}

function groupByDay(generations: readonly Generation[]): ReadonlyMap<string, Generation[]> {
  const days = new Map<string, Generation[]>();
  for (const generation of generations) {
    const day = utcDay(generation.createdAt);
    const ofDay = days.get(day);
    if (ofDay) ofDay.push(generation);
    else days.set(day, [generation]);
  }
  return days;
}

function toRow(generation: Generation): Record<string, unknown> {
  return {
    id: generation.id,
    workspace_id: generation.workspaceId,
    created_at: generation.createdAt,
    account_id: generation.accountId,
    api_key_id: generation.apiKeyId,
    operation: generation.operation,
    model: generation.model,
    endpoint: generation.endpoint,
    provider: generation.provider,
    upstream_id: generation.upstreamId,
    status: generation.status,
    error_type: generation.errorType,
    input_count: generation.inputCount,
    prompt_tokens: generation.promptTokens,
    total_tokens: generation.totalTokens,
    cost: formatUsd(generation.cost),
    upstream_cost: formatUsd(generation.upstreamCost),
    is_byok: generation.isByok,
    dimensions: generation.dimensions,
    encoding_format: generation.encodingFormat,
    input_type: generation.inputType,
    duration_ms: generation.durationMs,
    upstream_ms: generation.upstreamMs,
    user_id: generation.userId,
    session_id: generation.sessionId,
    request_id: generation.requestId,
    region: generation.region,
    trace: generation.trace,
    request_context: generation.requestContext,
    attempts: generation.attempts.length === 0 ? null : generation.attempts,
  };
}

// Why plain SQL: Prisma would need a round trip for every table and could not add in the database. Why JSON and not one
// array per column: the same rows cost less to write down and to read in one document.
//
// Spend is the sum of the rows that were really inserted, so that a statement repeated after a lost connection adds
// nothing twice. The counters are locked in the order of their keys: two replicas that settle the same keys wait for
// each other instead of deadlocking. A day older than the stored one (a late commit after midnight) adds to the windows
// that it shares with the stored day only.
const APPEND_AND_SETTLE = `
WITH appended AS (
  INSERT INTO generations (
    id, workspace_id, created_at, log_ordinal, account_id, api_key_id, operation, model, endpoint, provider,
    upstream_id, status, error_type, input_count, prompt_tokens, total_tokens, cost, upstream_cost, is_byok, dimensions,
    encoding_format, input_type, duration_ms, upstream_ms, user_id, session_id, request_id, region, trace,
    request_context, attempts)
  SELECT
    id, workspace_id, created_at, ordinal, account_id, api_key_id, operation, model, endpoint, provider,
    upstream_id, status, error_type, input_count, prompt_tokens, total_tokens, cost, upstream_cost, is_byok, dimensions,
    encoding_format, input_type, duration_ms, upstream_ms, user_id, session_id, request_id, region, trace,
    request_context, attempts
  FROM ROWS FROM (json_to_recordset($1::json) AS (
    id uuid, workspace_id uuid, created_at timestamptz, account_id uuid, api_key_id uuid, operation text, model text,
    endpoint text, provider text, upstream_id text, status smallint, error_type text, input_count integer,
    prompt_tokens integer, total_tokens integer, cost numeric, upstream_cost numeric, is_byok boolean,
    dimensions integer, encoding_format text, input_type text, duration_ms integer, upstream_ms integer, user_id text,
    session_id text, request_id text, region text, trace jsonb, request_context jsonb, attempts jsonb
  )) WITH ORDINALITY AS batch (
    id, workspace_id, created_at, account_id, api_key_id, operation, model, endpoint, provider, upstream_id, status,
    error_type, input_count, prompt_tokens, total_tokens, cost, upstream_cost, is_byok, dimensions, encoding_format,
    input_type, duration_ms, upstream_ms, user_id, session_id, request_id, region, trace, request_context, attempts,
    ordinal)
  ON CONFLICT DO NOTHING
  RETURNING workspace_id, api_key_id, cost, CASE WHEN is_byok THEN upstream_cost ELSE 0 END AS byok_cost
), sums AS (
  SELECT workspace_id, api_key_id, sum(cost) AS cost, sum(byok_cost) AS byok_cost
  FROM appended GROUP BY workspace_id, api_key_id HAVING sum(cost) <> 0 OR sum(byok_cost) <> 0
), locked AS (
  SELECT spend.workspace_id, spend.api_key_id, sums.cost, sums.byok_cost
  FROM key_spend AS spend JOIN sums USING (workspace_id, api_key_id)
  ORDER BY spend.workspace_id, spend.api_key_id FOR UPDATE OF spend
)
UPDATE key_spend AS spend SET
  last_day = greatest(spend.last_day, $2::date),
  total = spend.total + locked.cost,
  daily = ${settledWindow('day', 'daily', 'cost')},
  weekly = ${settledWindow('week', 'weekly', 'cost')},
  monthly = ${settledWindow('month', 'monthly', 'cost')},
  byok_total = spend.byok_total + locked.byok_cost,
  byok_daily = ${settledWindow('day', 'byok_daily', 'byok_cost')},
  byok_weekly = ${settledWindow('week', 'byok_weekly', 'byok_cost')},
  byok_monthly = ${settledWindow('month', 'byok_monthly', 'byok_cost')}
FROM locked
WHERE spend.workspace_id = locked.workspace_id AND spend.api_key_id = locked.api_key_id`;

function settledWindow(unit: 'day' | 'week' | 'month', column: string, amount: string): string {
  const windowOf = (day: string) => `date_trunc('${unit}', ${day}::timestamp)`;
  return `CASE
    WHEN ${windowOf('spend.last_day')} = ${windowOf('$2::date')} THEN spend.${column} + locked.${amount}
    WHEN spend.last_day < $2::date THEN locked.${amount}
    ELSE spend.${column} END`;
}
