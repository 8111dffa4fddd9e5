// The keys of a workspace, with the limit that stops each first.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { KEYS, loadKeys } from '../../api/keys';
import type { ApiKey } from '../../api/keys';
import { refusalsQuery } from '../../api/refusals';
import type { Refusal } from '../../api/refusals';
import { useWorkspaceId } from '../../app/workspace';
import { Button } from '../../components/actions/button';
import { CsvButton } from '../../components/actions/csv-button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { useHeldPages } from '../../components/data/held-pages';
import { ListFoot, RefreshButton } from '../../components/data/list-head';
import { Page, Section } from '../../components/display/section';
import { Badge } from '../../components/display/badge';
import { Name } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { FilterCheck, FilterRow } from '../../components/form/filter-row';
import { SearchField } from '../../components/form/search-field';
import { KeyActionDialog, KeyMenu } from './key-actions';
import type { KeyAction } from './key-actions';
import { CreateKeyDialog } from './create-key-dialog';
import type { KeySearch } from './key-search';
import { FirstLimit, KeySpend, KeyState, LastUsed, RefusedCount } from './key-state';
import styles from './keys.module.css';

const route = getRouteApi('/app/management/keys');

const columnsOf = (
  choose: (action: KeyAction) => void,
  refusals: readonly Refusal[],
): readonly Column<ApiKey>[] => [
  {
    id: 'name',
    header: 'Name',
    cell: (key) => (
      <span className={styles.nameCell}>
        <Link to="/keys/$hash" params={{ hash: key.hash }}>
          <Name text={key.name} />
        </Link>
        {key.is_management_key && <Badge tone="accent">Management</Badge>}
        <code className={styles.label}>{key.label}</code>
        {/* Its column is hidden on phones. */}
        <span className={styles.onPhone}>
          <RefusedCount apiKey={key} />
        </span>
      </span>
    ),
  },
  {
    id: 'state',
    header: 'State',
    priority: 2,
    cell: (key) => (
      <KeyState apiKey={key} refusals={refusals.filter(({ api_key_hash: hash }) => hash === key.hash)} />
    ),
  },
  { id: 'spend', header: 'Spend', cell: (key) => <KeySpend apiKey={key} name={key.name} /> },
  { id: 'first', header: 'Stops first', priority: 2, cell: (key) => <FirstLimit apiKey={key} hasReset /> },
  {
    id: 'used',
    header: 'Last used',
    priority: 2,
    isWhole: true,
    cell: (key) => <LastUsed apiKey={key} />,
  },
  {
    id: 'actions',
    header: 'Actions',
    isHeaderHidden: true,
    align: 'end',
    cell: (key) => <KeyMenu apiKey={key} onChoose={choose} />,
  },
];

export function KeysPage() {
  const workspaceId = useWorkspaceId();
  const { disabled, q } = route.useSearch();
  const navigate = route.useNavigate();
  const [isCreating, setCreating] = useState(false);
  const [action, setAction] = useState<KeyAction | null>(null);
  const filters = { workspace_id: workspaceId, include_disabled: disabled !== 'hidden', q };
  const change = (changed: KeySearch) =>
    void navigate({ search: (former) => ({ ...former, ...changed }), replace: true });
  const pages = useHeldPages({
    queryKey: [...KEYS, 'list', filters],
    load: (cursor, signal) => loadKeys(filters, cursor, signal),
    rowKey: ({ hash }) => hash,
  });
  // The list needs them for a state alone, and shows without them.
  const { data: refusals } = useQuery(refusalsQuery({ workspace_id: workspaceId }));
  const create = (
    <Button variant="primary" icon="plus" onClick={() => setCreating(true)}>
      Create key
    </Button>
  );
  return (
    <Page
      title="Keys"
      description="A key belongs to an application or a team, and spends at most its limit."
      actions={
        <>
          <CsvButton list={{ path: '/api/v1/keys', query: filters, name: 'keys' }} />
          {create}
        </>
      }
    >
      <Section title="Keys of the workspace" isFlush actions={<RefreshButton pages={pages} />}>
        <FilterRow label="Filter keys">
          <SearchField
            label="Search keys"
            placeholder="Search keys by name"
            value={q}
            maxLength={200}
            onSearch={(text) => change({ q: text })}
          />
          <FilterCheck
            label="Show disabled"
            checked={filters.include_disabled}
            onChange={(isChecked) => change({ disabled: isChecked ? undefined : 'hidden' })}
          />
        </FilterRow>
        {pages.error && pages.rows === undefined ? (
          <ErrorState error={pages.error} onRetry={pages.refresh} />
        ) : (
          <DataTable
            caption="Keys"
            columns={columnsOf(setAction, refusals ?? [])}
            rows={pages.rows}
            rowKey={({ hash }) => hash}
            isRowMuted={(key) => key.disabled}
            empty={
              q === undefined && filters.include_disabled ? (
                <EmptyState title="No key yet" action={create}>
                  Applications call this service with a key. Create one, with a limit if you like.
                </EmptyState>
              ) : q === undefined ? (
                <EmptyState
                  title="No enabled key"
                  action={<Button onClick={() => change({ disabled: undefined })}>Show disabled keys</Button>}
                >
                  All keys of the workspace are disabled, and calls with them are refused.
                </EmptyState>
              ) : (
                <EmptyState
                  title="No key matches"
                  action={<Button onClick={() => change({ q: undefined })}>Clear the search</Button>}
                >
                  No name of a key {filters.include_disabled ? '' : 'that is not disabled '}contains “
                  <bdi>{q}</bdi>”.
                </EmptyState>
              )
            }
            footer={<ListFoot pages={pages} noun="keys" />}
          />
        )}
      </Section>
      <CreateKeyDialog isOpen={isCreating} onClose={() => setCreating(false)} />
      <KeyActionDialog action={action} onClose={() => setAction(null)} />
    </Page>
  );
}
