// The audit log: each change with its key, time and origin.
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { AUDIT, loadAudit } from '../../api/audit';
import type { AuditEntry, AuditFilter } from '../../api/audit';
import { isoTime } from '../../api/iso-time';
import { useWorkspaceId } from '../../app/workspace';
import { CsvButton } from '../../components/actions/csv-button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { useHeldPages } from '../../components/data/held-pages';
import { ListFoot, RefreshButton } from '../../components/data/list-head';
import { Badge } from '../../components/display/badge';
import { Page, Section } from '../../components/display/section';
import { Code, Name, Time } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { AuditFilters } from './audit-filters';
import type { AuditSearch } from './audit-search';
import { ChangeDialog } from './change-dialog';
import { ACTION_NAMES, ACTION_TONES, objectName, TYPE_NAMES } from './audit-words';
import styles from './audit.module.css';

const route = getRouteApi('/app/management/audit');

/** The start of a local day, or of the next one. */
function dayStart(day: string, later = 0): string | undefined {
  const start = new Date(`${day}T00:00`);
  start.setDate(start.getDate() + later);
  return Number.isNaN(start.getTime()) ? undefined : isoTime(start);
}

function toFilter(search: AuditSearch, workspaceId: string): AuditFilter {
  const { type, action, object, scope, from, to } = search;
  return {
    ...(type === undefined ? {} : { object_type: type }),
    ...(action === undefined ? {} : { action }),
    ...(object === undefined ? {} : { object_id: object }),
    ...(scope === 'all' ? {} : { workspace_id: workspaceId }),
    ...(from === undefined ? {} : { from: dayStart(from) }),
    ...(to === undefined ? {} : { to: dayStart(to, 1) }),
  };
}

function columnsOf(setShown: (entry: AuditEntry) => void): readonly Column<AuditEntry>[] {
  return [
    { id: 'when', header: 'When', cell: (entry) => <Time at={entry.created_at} /> },
    {
      id: 'what',
      header: 'Change',
      cell: (entry) => (
        <span className={styles.what}>
          <Badge tone={ACTION_TONES[entry.action]}>{ACTION_NAMES[entry.action]}</Badge>
          <button type="button" className={styles.object} onClick={() => setShown(entry)}>
            <Name text={objectName(entry)} />
          </button>
        </span>
      ),
    },
    { id: 'type', header: 'Object', priority: 2, cell: (entry) => TYPE_NAMES[entry.object_type] },
    {
      id: 'who',
      header: 'By',
      priority: 2,
      cell: ({ actor }) => (
        <span className={styles.who}>
          {actor.key_name !== null && <Name text={actor.key_name} />}
          {actor.key_hash === null ? <Name text={actor.key_label} /> : <Code text={actor.key_label} />}
        </span>
      ),
    },
    { id: 'where', header: 'From where', priority: 3, cell: (entry) => <Code text={entry.actor.ip} /> },
  ];
}

export function AuditPage() {
  const workspaceId = useWorkspaceId();
  const search = route.useSearch();
  const [shown, setShown] = useState<AuditEntry | null>(null);
  const filter = toFilter(search, workspaceId);
  const pages = useHeldPages({
    queryKey: [...AUDIT, filter],
    load: (cursor, signal) => loadAudit(filter, cursor, signal),
    rowKey: ({ id }: AuditEntry) => id,
  });
  const columns = columnsOf(setShown);
  return (
    <Page
      title="Audit log"
      description="Every change, with the key or the person that has made it. A click on an object shows it before and after."
      actions={
        <CsvButton list={{ path: '/api/v1/audit', query: { ...filter, limit: 100 }, name: 'audit' }} />
      }
    >
      <Section title="Changes" isFlush actions={<RefreshButton pages={pages} />}>
        <AuditFilters />
        {pages.error && pages.rows === undefined ? (
          <ErrorState error={pages.error} onRetry={pages.refresh} />
        ) : (
          <DataTable
            caption="Audit log"
            columns={columns}
            rows={pages.rows}
            rowKey={({ id }) => id}
            empty={
              <EmptyState title="No change here">
                Changes of keys, destinations, workspaces, budgets, members and provider keys show here. Try
                fewer filters.
              </EmptyState>
            }
            footer={<ListFoot pages={pages} noun="changes" />}
          />
        )}
      </Section>
      <ChangeDialog entry={shown} onClose={() => setShown(null)} />
    </Page>
  );
}
