// The keys of a workspace, or of all, with the limit that stops each first.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { KEYS, loadKeys } from '../../api/keys';
import type { ApiKey } from '../../api/keys';
import { refusalsQuery } from '../../api/refusals';
import type { Refusal } from '../../api/refusals';
import { scopeOf } from '../../api/workspaces';
import { useSession, useWorkspaceScope } from '../../app/workspace';
import { Button, buttonClass } from '../../components/actions/button';
import { CsvButton } from '../../components/actions/csv-button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { useHeldPages } from '../../components/data/held-pages';
import { ListFoot, RefreshButton } from '../../components/data/list-head';
import { WorkspaceName } from '../../components/data/workspace-name';
import { Page, Section } from '../../components/display/section';
import { Badge } from '../../components/display/badge';
import { usePhone } from '../../components/display/use-phone';
import { Name } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { KeyActionDialog, KeyMenu } from './key-actions';
import type { KeyAction } from './key-actions';
import { CreateKeyDialog } from './create-key-dialog';
import { CreateManagementKeyDialog } from './create-management-key-dialog';
import { KeyFilters } from './key-filters';
import { useCreatableKeys } from './key-rights';
import type { KeySearch } from './key-search';
import { FirstLimit, KeySpend, KeyState, LastUsed } from './key-state';
import styles from './keys.module.css';

const route = getRouteApi('/app/management/keys');

interface ColumnOptions {
  readonly choose: (action: KeyAction) => void;
  readonly refusals: readonly Refusal[];
  readonly isOfAll: boolean;
  /** The state has no room for a column of its own, and stands below the name. */
  readonly isPhone: boolean;
}

const columnsOf = ({ choose, refusals, isOfAll, isPhone }: ColumnOptions): readonly Column<ApiKey>[] => {
  const stateOf = (key: ApiKey) => (
    <KeyState apiKey={key} refusals={refusals.filter(({ api_key_hash: hash }) => hash === key.hash)} />
  );
  return [
    {
      id: 'name',
      header: 'Name',
      cell: (key) => (
        <span className={styles.nameCell}>
          <Link to="/keys/$hash" params={{ hash: key.hash }}>
            <Name text={key.name} />
          </Link>
          {key.is_management_key && <Badge tone="accent">Management</Badge>}
          <span className={styles.label}>
            <code>{key.label}</code>
            {isOfAll && (
              <>
                {' · '}
                <WorkspaceName id={key.workspace_id} />
              </>
            )}
          </span>
          {isPhone && stateOf(key)}
        </span>
      ),
    },
    ...(isPhone ? [] : [{ id: 'state', header: 'State', cell: stateOf }]),
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
};

export function KeysPage() {
  const workspaceId = useWorkspaceScope();
  const creatable = useCreatableKeys();
  const isManagement = useSession().kind === 'management';
  const isPhone = usePhone();
  const search = route.useSearch();
  const { disabled, q, sort, state } = search;
  const navigate = route.useNavigate();
  const [creating, setCreating] = useState<'inference' | 'management' | null>(null);
  const [action, setAction] = useState<KeyAction | null>(null);
  const filters = { ...scopeOf(workspaceId), include_disabled: disabled !== 'hidden', q, sort, state };
  const change = (changed: KeySearch) =>
    void navigate({ search: (former) => ({ ...former, ...changed }), replace: true });
  const pages = useHeldPages({
    queryKey: [...KEYS, 'list', filters],
    load: (cursor, signal) => loadKeys(filters, cursor, signal),
    rowKey: ({ hash }) => hash,
  });
  // The list needs them for a state alone, and shows without them.
  const { data: refusals } = useQuery(
    refusalsQuery(workspaceId === null ? {} : { workspace_id: workspaceId }),
  );
  const create =
    creatable === 'any' ? (
      <Button variant="primary" icon="plus" onClick={() => setCreating('inference')}>
        Create key
      </Button>
    ) : (
      creatable === 'own' && (
        <Link to="/my-keys" className={buttonClass('primary')}>
          Create my key
        </Link>
      )
    );
  return (
    <Page
      title="Keys"
      description="A key belongs to an application or a team, and spends at most its limit."
      actions={
        <>
          <CsvButton list={{ path: '/api/v1/keys', query: filters, name: 'keys' }} />
          {/* People make no management keys. */}
          {isManagement && <Button onClick={() => setCreating('management')}>Create management key</Button>}
          {create}
        </>
      }
    >
      <Section
        title={workspaceId === null ? 'Keys of all workspaces' : 'Keys of the workspace'}
        isFlush
        actions={<RefreshButton pages={pages} />}
      >
        <KeyFilters search={search} onChange={change} />
        {pages.error && pages.rows === undefined ? (
          <ErrorState error={pages.error} onRetry={pages.refresh} />
        ) : (
          <DataTable
            caption="Keys"
            columns={columnsOf({
              choose: setAction,
              refusals: refusals ?? [],
              isOfAll: workspaceId === null,
              isPhone,
            })}
            rows={pages.rows}
            rowKey={({ hash }) => hash}
            isRowMuted={(key) => key.disabled}
            empty={<NoKey {...{ search, change, create }} />}
            footer={<ListFoot pages={pages} noun="keys" />}
          />
        )}
      </Section>
      <CreateKeyDialog isOpen={creating === 'inference'} onClose={() => setCreating(null)} />
      <CreateManagementKeyDialog isOpen={creating === 'management'} onClose={() => setCreating(null)} />
      <KeyActionDialog action={action} onClose={() => setAction(null)} />
    </Page>
  );
}

interface NoKeyProps {
  readonly search: KeySearch;
  readonly change: (changed: KeySearch) => void;
  readonly create: ReactNode;
}

function NoKey({ search: { q, disabled, state }, change, create }: NoKeyProps) {
  if (q === undefined && state === undefined && disabled === undefined) {
    return (
      <EmptyState title="No key yet" action={create}>
        Applications call this service with a key.{create && ' Create one, with a limit if you like.'}
      </EmptyState>
    );
  }
  if (q === undefined && state === undefined) {
    return (
      <EmptyState
        title="No enabled key"
        action={<Button onClick={() => change({ disabled: undefined })}>Show disabled keys</Button>}
      >
        All keys of the workspace are disabled, and calls with them are refused.
      </EmptyState>
    );
  }
  if (q === undefined) {
    return (
      <EmptyState
        title="No key is in this state"
        action={<Button onClick={() => change({ state: undefined })}>Show all keys</Button>}
      >
        {state === 'stopped' ? 'No limit stops a key now.' : 'Choose another state to see other keys.'}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title="No key matches"
      action={<Button onClick={() => change({ q: undefined })}>Clear the search</Button>}
    >
      No name of a key {state !== undefined && 'in this state '}
      {state === undefined && disabled !== undefined && 'that is not disabled '}contains “<bdi>{q}</bdi>”.
    </EmptyState>
  );
}
