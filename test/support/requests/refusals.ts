// Refused calls as operators see them, recorded on request.
import { RefusalReporter } from '../../../src/refusals/refusal-reporter.js';
import type { TestApp } from '../app/app.js';
import { askFor } from './admin.js';

export interface RefusalRecord {
  readonly created_at: string;
  readonly workspace_id: string;
  readonly api_key_hash: string | null;
  readonly api_key_name: string | null;
  readonly reason: string;
  readonly request_id: string;
  readonly message: string;
  readonly needed_usd: number | null;
  readonly left_usd: number | null;
  readonly limit_usd: number | null;
  readonly limit_window: string | null;
  readonly resets_at: string | null;
  readonly affordable_output_tokens: number | null;
}

/** The processes have recorded what they refused. */
export async function recordRefusals(...apps: readonly TestApp[]): Promise<void> {
  for (const { application } of apps) await application.get(RefusalReporter).flush();
}

export async function listRefusals(
  app: TestApp,
  query = '',
  key = app.managementKey,
): Promise<RefusalRecord[]> {
  const { data } = await askFor<{ data: RefusalRecord[] }>(200, app, 'get', `/refusals${query}`, { key });
  return data;
}

type Row = Readonly<Record<string, string | number | null>>;

export async function queryRefusals(
  app: TestApp,
  body: object = {},
  key = app.managementKey,
): Promise<Row[]> {
  const { data } = await askFor<{ data: { data: Row[] } }>(200, app, 'post', '/analytics/query', {
    body: { metrics: ['refused_count'], ...body },
    key,
  });
  return data.data;
}
