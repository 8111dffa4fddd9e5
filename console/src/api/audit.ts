// The record of administrative changes.
import { queryOptions } from '@tanstack/react-query';
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

/** The entry of an object's creation; null: the log has none. */
export const creationQuery = (type: AuditEntry['object_type'], id: string) =>
  queryOptions({
    queryKey: [...AUDIT, 'creation', type, id],
    queryFn: async ({ signal }): Promise<AuditEntry | null> => {
      const filter: AuditFilter = { object_type: type, object_id: id, action: 'create' };
      return (await loadAudit(filter, undefined, signal)).data[0] ?? null;
    },
    staleTime: Infinity,
  });

export async function loadAudit(
  filter: AuditFilter,
  after: string | undefined,
  signal: AbortSignal,
): Promise<CursorPage<AuditEntry>> {
  const query = { ...filter, limit: PAGE, ...(after === undefined ? {} : { after }) };
  const { data, next } = await call(api.GET('/api/v1/audit', { params: { query }, signal }));
  return { data, next_cursor: next };
}
