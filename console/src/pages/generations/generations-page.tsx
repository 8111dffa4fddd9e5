// The calls of a workspace, newest first.
import { getRouteApi, Link } from '@tanstack/react-router';
import { GENERATIONS, loadGenerations } from '../../api/generations';
import type { GenerationRow } from '../../api/generations';
import { useWorkspaceId } from '../../app/workspace';
import { CsvButton } from '../../components/actions/csv-button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { useHeldPages } from '../../components/data/held-pages';
import { ListFoot, RefreshButton } from '../../components/data/list-head';
import { Badge, StatusBadge } from '../../components/display/badge';
import { Page, Section } from '../../components/display/section';
import { Absent, ModelId, Money, Name, Time } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { formatCount, formatDuration } from '../../format';
import { GenerationFilterBar } from './generation-filters';
import styles from './generations.module.css';

const route = getRouteApi('/app/management/generations');

const COLUMNS: readonly Column<GenerationRow>[] = [
  {
    id: 'time',
    header: 'Time',
    isWhole: true,
    cell: ({ id, created_at: at, model, api_key_name: key }) => (
      <span className={styles.stack}>
        <Link to="/generations/$id" params={{ id }}>
          <Time at={at} />
        </Link>
        {/* Their columns are hidden on phones. */}
        <span className={styles.onPhone}>
          <ModelId id={model} />
          {key !== null && <Name text={key} />}
        </span>
      </span>
    ),
  },
  { id: 'status', header: 'Status', cell: (row) => <Outcome row={row} /> },
  {
    id: 'model',
    header: 'Model',
    priority: 2,
    cell: ({ model, provider_name: provider, attempts, ...row }) => (
      <span className={styles.stack}>
        <ModelId id={model} />
        <span className={styles.second}>
          {operationOf(row)}, {provider ?? 'no provider'}
          {attempts > 1 && `, ${attempts} attempts`}
        </span>
      </span>
    ),
  },
  {
    id: 'key',
    header: 'Key and session',
    priority: 2,
    cell: ({ api_key_name: name, session_id: session }) => (
      <span className={styles.stack}>
        {name === null ? <Absent /> : <Name text={name} />}
        {session !== null && (
          <span className={styles.second}>
            <Name text={session} />
          </span>
        )}
      </span>
    ),
  },
  {
    id: 'tokens',
    header: 'Tokens',
    align: 'end',
    priority: 3,
    cell: (row) => (
      <span className={styles.stack}>
        {formatCount(row.tokens_total)}
        {row.tokens_completion > 0 && (
          <span className={styles.split}>
            {formatCount(row.tokens_prompt)} prompt, {formatCount(row.tokens_completion)} answer
          </span>
        )}
      </span>
    ),
  },
  { id: 'cost', header: 'Cost', align: 'end', cell: ({ usage }) => <Money usd={usage} /> },
  {
    id: 'latency',
    header: 'Latency',
    align: 'end',
    priority: 2,
    cell: ({ latency }) => formatDuration(latency),
  },
];

function operationOf({ api_type: type, streamed: isStreamed }: Pick<GenerationRow, 'api_type' | 'streamed'>) {
  if (type === 'embeddings') return 'Embed';
  return isStreamed ? 'Chat, streamed' : 'Chat';
}

/** An answer that simply ended needs no remark. */
function Outcome({ row }: { readonly row: GenerationRow }) {
  const { status, finish_reason: reason, cancelled: isCancelled } = row;
  return (
    <span className={styles.badges}>
      <StatusBadge status={status} />
      {isCancelled && <Badge tone="warning">Cancelled</Badge>}
      {reason !== null && reason !== 'stop' && <Badge tone="neutral">{reason}</Badge>}
    </span>
  );
}

const API_TYPES = { embeddings: 'embeddings', chat: 'completions' } as const;

export function GenerationsPage() {
  const workspaceId = useWorkspaceId();
  const { model, provider, operation, status, key, session, user, from, to } = route.useSearch();
  const filters = {
    workspace_id: workspaceId,
    api_key_hash: key,
    model,
    provider,
    api_type: operation && API_TYPES[operation],
    status,
    session_id: session,
    user_id: user,
    from,
    to,
  };
  const pages = useHeldPages({
    queryKey: [...GENERATIONS, 'list', filters],
    load: (cursor, signal) => loadGenerations(filters, cursor, signal),
    rowKey: ({ id }) => id,
    isLive: to === undefined,
  });
  return (
    <Page
      title="Generations"
      description="Every call that reached routing, whether it succeeded or failed."
      actions={
        <CsvButton
          list={{ path: '/api/v1/generations', query: { ...filters, limit: 100 }, name: 'generations' }}
        />
      }
    >
      <GenerationFilterBar workspaceId={workspaceId} />
      <Section title="Calls" isFlush actions={<RefreshButton pages={pages} />}>
        {pages.error && pages.rows === undefined ? (
          <ErrorState error={pages.error} onRetry={pages.refresh} />
        ) : (
          <DataTable
            caption="Generations"
            columns={COLUMNS}
            rows={pages.rows}
            rowKey={({ id }) => id}
            empty={
              <EmptyState title="No call matches" action={<ListFoot pages={pages} noun="calls" />}>
                Change the filters, or make a call with a key of this workspace.
              </EmptyState>
            }
            footer={<ListFoot pages={pages} noun="calls" />}
          />
        )}
      </Section>
    </Page>
  );
}
