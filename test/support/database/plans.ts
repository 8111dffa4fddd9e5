// Plans of statements as PostgreSQL makes them for a filled log, and what they read.
import type pg from 'pg';
import type { ApiKey } from '../../../src/domain/keys/api-key.js';
import type { TestApp } from '../app/app.js';

export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface Scan {
  readonly table: string;
  readonly index: string | null;
  /** Rows that were looked at, those that a filter took out among them. */
  readonly rows: number;
  readonly pages: number;
  /** Reads a table of few pages whole, such as the partition of a day that has just begun: no index is faster. */
  readonly isOfSmallTable: boolean;
}

// PostgreSQL counts a page that an index leads to as four pages in their order.
const SMALL_TABLE_PAGES = 10;

/** Runs the statement, and answers the plan that it ran by. */
export async function planOf(
  client: Pick<pg.Client, 'query'>,
  text: string,
  values: unknown[],
): Promise<PlanNode> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
    values,
  );
  return rows[0]!['QUERY PLAN'][0].Plan;
}

export function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** The scans of tables that were really made. */
export function scansOf(plan: PlanNode): Scan[] {
  return nodesOf(plan).flatMap((node) => {
    const table = node['Relation Name'];
    const loops = node['Actual Loops'] ?? 0;
    if (table === undefined || loops === 0 || node['Node Type'] === 'ModifyTable') return [];
    // The index of a bitmap is that of its own node.
    const index = nodesOf(node).find((inner) => inner['Index Name'] !== undefined)?.['Index Name'] ?? null;
    const pages = (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0);
    return [
      {
        table,
        index,
        rows: ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * loops,
        pages,
        isOfSmallTable: index === null && pages <= SMALL_TABLE_PAGES * loops,
      },
    ];
  });
}

/** Makes the partitions of all days of a period, which the service makes as the days come. */
export async function makeDays(app: Pick<TestApp, 'sql'>, from: Date, days: number): Promise<void> {
  await app.sql(
    "SELECT ensure_time_partitions($1::timestamptz + day * interval '1 day') FROM generate_series(0, $2::integer) AS day",
    [from, Math.ceil(days)],
  );
}

/** Writes as many generations, spread over the keys and the days, and has the tables analysed. */
export async function fillLog(
  app: TestApp,
  keys: readonly Pick<ApiKey, 'id' | 'accountId' | 'workspaceId'>[],
  { rows, from, days }: { readonly rows: number; readonly from: Date; readonly days: number },
): Promise<void> {
  await makeDays(app, from, days);
  await app.sql(
    `INSERT INTO generations (id, workspace_id, created_at, log_ordinal, account_id, api_key_id, operation, model, endpoint,
       provider, status, input_count, prompt_tokens, total_tokens, cost, upstream_cost, is_byok, encoding_format,
       duration_ms, request_id, region, user_id)
     SELECT gen_random_uuid(), (key->>'workspaceId')::uuid, $2::timestamptz + $3 * interval '1 day' * (number - 1) / $4, number,
       (key->>'accountId')::uuid, (key->>'id')::uuid, 'embeddings', 'model-' || number % 5, 'endpoint-' || number % 5, 'provider', 200,
       1, number % 7, number % 7, 0.000000000001 * (number % 11), 0, false, 'float', 5, 'request', 'global',
       'user-' || number % 10
     FROM generate_series(1, $4) AS number
     CROSS JOIN LATERAL (SELECT $1::jsonb -> (number % jsonb_array_length($1)) AS key) AS chosen`,
    [JSON.stringify(keys), from, days, rows],
  );
  await app.sql('ANALYZE');
}

interface Sizes {
  readonly generations: number;
  readonly keys: number;
  readonly destinations: number;
}

type Fill = (
  databaseUrl: string,
  sizes: Sizes,
  progress: { step: (title: string, work: () => Promise<unknown>) => Promise<unknown>; line: () => void },
) => Promise<void>;

/** Fills the database of an app that has one account with a destination, as the benchmark of growth does. */
export async function fillDatabase(app: TestApp, sizes: Sizes): Promise<void> {
  const path: string = './growth-fill.mjs';
  const { fill } = (await import(path)) as { fill: Fill };
  await fill(app.databaseUrl, sizes, { step: (_title, work) => work(), line: () => undefined });
}
