// The record of administrative changes.
import type { CursorPage } from '../components/data/held-pages';
import { api, call } from './client';
import type { paths, Schemas } from './client';

export type AuditEntry = Schemas['AuditEntryDto'];
export type AuditFilter = Omit<
  NonNullable<paths['/api/v1/audit']['get']['parameters']['query']>,
  'after' | 'limit'
>;

export const AUDIT = ['audit'] as const;
const PAGE = 50;

export async function loadAudit(
  filter: AuditFilter,
  after: string | undefined,
  signal: AbortSignal,
): Promise<CursorPage<AuditEntry>> {
  const query = { ...filter, limit: PAGE, ...(after === undefined ? {} : { after }) };
  const { data, next } = await call(api.GET('/api/v1/audit', { params: { query }, signal }));
  return { data, next_cursor: next };
}
