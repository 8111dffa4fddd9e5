// The calls of a workspace, or of all, newest first.
import { getRouteApi } from '@tanstack/react-router';
import { GENERATIONS, loadGenerations } from '../../api/generations';
import { scopeOf } from '../../api/workspaces';
import { useWorkspaceScope } from '../../app/workspace';
import { CsvButton } from '../../components/actions/csv-button';
import { DataTable } from '../../components/data/data-table';
import { useHeldPages } from '../../components/data/held-pages';
import { ListFoot, RefreshButton } from '../../components/data/list-head';
import { Page, Section } from '../../components/display/section';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import {
  FIGURE_COLUMNS,
  KEY_COLUMN,
  KEY_OF_WORKSPACE_COLUMN,
  MODEL_COLUMN,
  STATUS_COLUMN,
  TIME_COLUMN,
} from './generation-columns';
import type { CallColumn } from './generation-columns';
import { GenerationFilterBar } from './generation-filters';

const route = getRouteApi('/app/management/generations');

const columnsWith = (key: CallColumn): readonly CallColumn[] => [
  TIME_COLUMN,
  STATUS_COLUMN,
  MODEL_COLUMN,
  key,
  ...FIGURE_COLUMNS,
];
const COLUMNS = columnsWith(KEY_COLUMN);
const COLUMNS_OF_ALL = columnsWith(KEY_OF_WORKSPACE_COLUMN);
const API_TYPES = { embeddings: 'embeddings', chat: 'completions', rerank: 'rerank' } as const;

export function GenerationsPage() {
  const workspaceId = useWorkspaceScope();
  const { model, provider, operation, status, error, key, session, user, from, to } = route.useSearch();
  const filters = {
    ...scopeOf(workspaceId),
    api_key_hash: key,
    model,
    provider,
    api_type: operation && API_TYPES[operation],
    status,
    error_type: error,
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
            columns={workspaceId === null ? COLUMNS_OF_ALL : COLUMNS}
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
