// The roles that people get by groups of their identity provider, at each sign-in.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { deleteGroupMapping, GROUP_MAPPINGS, loadGroupMappings } from '../../api/sign-in';
import type { GroupMapping, SignInProvider } from '../../api/sign-in';
import { workspacesQuery } from '../../api/workspaces';
import { grantedRoles } from '../../app/granted-roles';
import { useCan } from '../../app/rights';
import { useSession } from '../../app/workspace';
import { Button } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { useHeldPages } from '../../components/data/held-pages';
import { ListFoot } from '../../components/data/list-head';
import { WorkspaceName } from '../../components/data/workspace-name';
import { Section } from '../../components/display/section';
import { Name, Time } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { ConfirmDialog } from '../../components/overlay/dialog';
import { capitalise } from '../../format';
import { GroupMappingDialog } from './group-mapping-dialog';
import styles from './sign-in-settings.module.css';

interface ColumnOptions {
  /** The issuer says nothing where all mappings have the same. */
  readonly hasIssuer: boolean;
  readonly canRemove: (mapping: GroupMapping) => boolean;
  readonly remove: (mapping: GroupMapping) => void;
}

const columnsOf = ({ hasIssuer, canRemove, remove }: ColumnOptions): readonly Column<GroupMapping>[] => [
  { id: 'group', header: 'Group', cell: ({ group }) => <Name text={group} /> },
  {
    id: 'role',
    header: 'Role',
    cell: ({ role, workspace_id: id }) => (
      <span className={styles.role}>
        {capitalise(role)}
        <span className={styles.second}>{id === null ? 'Whole account' : <WorkspaceName id={id} />}</span>
      </span>
    ),
  },
  ...(hasIssuer
    ? [
        {
          id: 'issuer',
          header: 'Issuer',
          priority: 2,
          cell: ({ issuer }) => <Name text={issuer} />,
        } satisfies Column<GroupMapping>,
      ]
    : []),
  { id: 'since', header: 'Since', priority: 3, cell: (mapping) => <Time at={mapping.created_at} /> },
  {
    id: 'actions',
    header: 'Actions',
    isHeaderHidden: true,
    align: 'end',
    cell: (mapping) =>
      canRemove(mapping) && (
        <Button variant="ghost" aria-label={`Remove ${mapping.group}`} onClick={() => remove(mapping)}>
          Remove
        </Button>
      ),
  },
];

/** `providers` undefined: not loaded yet. */
export function GroupMappings({ providers }: { readonly providers: readonly SignInProvider[] | undefined }) {
  const session = useSession();
  const can = useCan();
  const client = useQueryClient();
  const workspaces = useQuery(workspacesQuery);
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<GroupMapping | null>(null);
  const pages = useHeldPages({
    queryKey: [...GROUP_MAPPINGS, 'list'],
    load: loadGroupMappings,
    rowKey: ({ id }: GroupMapping) => id,
    isLive: false,
  });
  const refresh = () => client.invalidateQueries({ queryKey: GROUP_MAPPINGS });
  const remove = useMutation({
    mutationFn: ({ id }: GroupMapping) => deleteGroupMapping(id),
    onSuccess: async () => {
      setRemoved(null);
      await refresh();
    },
  });
  const mayChange = can('people.change', null);
  const roles = grantedRoles(session);
  const canRemove = ({ workspace_id: workspaceId, role }: GroupMapping): boolean =>
    mayChange && (workspaceId !== null || roles.some((granted) => granted === role));
  const issuers = new Set([...(pages.rows ?? []), ...(providers ?? [])].map(({ issuer }) => issuer));
  const add = mayChange &&
    providers !== undefined &&
    providers.length > 0 &&
    workspaces.data !== undefined && (
      <Button icon="plus" onClick={() => setAdding(true)}>
        Add group
      </Button>
    );
  return (
    <Section
      title="Roles by groups"
      description="In force at the next sign-in of the group's people. Of several groups the highest role counts."
      actions={add}
      isFlush
    >
      {pages.error && pages.rows === undefined ? (
        <ErrorState error={pages.error} onRetry={pages.refresh} />
      ) : (
        <DataTable
          caption="Roles by groups"
          columns={columnsOf({ hasIssuer: issuers.size > 1, canRemove, remove: setRemoved })}
          rows={pages.rows}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="No group gives a role">
              People get their role by hand, on the page People, or by a group that you add here.
            </EmptyState>
          }
          footer={<ListFoot pages={pages} noun="groups" />}
        />
      )}
      {isAdding && (
        <GroupMappingDialog
          providers={providers ?? []}
          workspaces={workspaces.data ?? []}
          accountRoles={roles}
          onClose={() => setAdding(false)}
          onSaved={refresh}
        />
      )}
      <ConfirmDialog
        title="Remove group"
        name={removed?.group ?? ''}
        action="Remove"
        isOpen={removed !== null}
        mutation={remove}
        onConfirm={() => {
          if (removed !== null) remove.mutate(removed);
        }}
        onClose={() => setRemoved(null)}
      >
        The people of the group lose this role at their next sign-in, at the latest when their session ends.
      </ConfirmDialog>
    </Section>
  );
}
