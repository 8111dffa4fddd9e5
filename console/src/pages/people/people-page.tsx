// The people who have signed in to the account: their roles and where these come from, and who may sign in no longer.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { loadPeople, PEOPLE, updatePerson } from '../../api/people';
import type { Person } from '../../api/people';
import { messageOf } from '../../api/problems';
import { grantedRoles } from '../../app/granted-roles';
import { useCan } from '../../app/rights';
import { useSession } from '../../app/workspace';
import { buttonClass } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { useHeldPages } from '../../components/data/held-pages';
import { ListFoot, RefreshButton } from '../../components/data/list-head';
import { WorkspaceName } from '../../components/data/workspace-name';
import { Badge } from '../../components/display/badge';
import type { Tone } from '../../components/display/badge';
import { Page, Section } from '../../components/display/section';
import { usePhone } from '../../components/display/use-phone';
import { Absent, Name, Time } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { ActionMenu } from '../../components/overlay/action-menu';
import { ConfirmDialog } from '../../components/overlay/dialog';
import { capitalise, formatCount } from '../../format';
import { OtherMembers } from './other-members';
import { nameOfPerson, sourcesText } from './person-words';
import { RoleDialog } from './role-dialog';
import styles from './people.module.css';

const STATES: Readonly<Record<Person['state'], readonly [string, Tone]>> = {
  active: ['Active', 'good'],
  waiting: ['Waits for a role', 'warning'],
  disabled: ['Disabled', 'neutral'],
};
const SHOWN_WORKSPACES = 3;

interface ColumnOptions {
  /** The state has no room for a column of its own, and stands below the name. */
  readonly isPhone: boolean;
  readonly canChange: (person: Person) => boolean;
  readonly changeRole: (person: Person) => void;
  readonly disable: (person: Person) => void;
  readonly enable: (person: Person) => void;
}

function columnsOf(options: ColumnOptions): readonly Column<Person>[] {
  const { isPhone, canChange, changeRole, disable, enable } = options;
  return [
    {
      id: 'name',
      header: 'Person',
      cell: (person) => (
        <span className={styles.nameCell}>
          <Name text={nameOfPerson(person)} />
          {person.email !== nameOfPerson(person) && (
            <bdi className={styles.second}>{person.email || person.issuer}</bdi>
          )}
          {isPhone && <State person={person} />}
        </span>
      ),
    },
    ...(isPhone
      ? []
      : [{ id: 'state', header: 'State', cell: (person: Person) => <State person={person} /> }]),
    {
      id: 'role',
      header: 'Account role',
      cell: ({ account_role: role, account_role_sources: sources }) =>
        role === null ? (
          <Absent />
        ) : (
          <span className={styles.nameCell}>
            {capitalise(role)}
            <span className={styles.second}>{sourcesText(sources)}</span>
          </span>
        ),
    },
    { id: 'workspaces', header: 'Workspaces', priority: 2, cell: (person) => <Workspaces person={person} /> },
    {
      id: 'signed-in',
      header: 'Last sign-in',
      priority: 3,
      isWhole: true,
      cell: ({ last_sign_in_at: at }) => <Time at={at} isRelative isPast />,
    },
    {
      id: 'keys',
      header: 'Keys valid until',
      priority: 3,
      isWhole: true,
      cell: ({ keys_valid_until: at }) => <Time at={at} absent="No end" />,
    },
    {
      id: 'actions',
      header: 'Actions',
      isHeaderHidden: true,
      align: 'end',
      cell: (person) =>
        canChange(person) && (
          <ActionMenu
            label={`Actions for ${nameOfPerson(person)}`}
            actions={[
              { label: 'Change account role', onSelect: () => changeRole(person) },
              person.state === 'disabled'
                ? { label: 'Enable', onSelect: () => enable(person) }
                : { label: 'Disable', onSelect: () => disable(person), isDangerous: true },
            ]}
          />
        ),
    },
  ];
}

const State = ({ person: { state } }: { readonly person: Person }) => (
  <Badge tone={STATES[state][1]}>{STATES[state][0]}</Badge>
);

function Workspaces({ person: { workspaces } }: { readonly person: Person }) {
  if (workspaces.length === 0) return <Absent />;
  const rest = workspaces.length - SHOWN_WORKSPACES;
  return (
    <ul className={styles.workspaces}>
      {workspaces.slice(0, SHOWN_WORKSPACES).map(({ workspace_id: id, role, role_sources: sources }) => (
        <li key={id}>
          <WorkspaceName id={id} />
          <span className={styles.second}>{`${capitalise(role)}, ${sourcesText(sources)}`}</span>
        </li>
      ))}
      {rest > 0 && <li className={styles.second}>and {formatCount(rest)} more</li>}
    </ul>
  );
}

export function PeoplePage() {
  const session = useSession();
  const can = useCan();
  const client = useQueryClient();
  const [changed, setChanged] = useState<Person | null>(null);
  const [disabled, setDisabled] = useState<Person | null>(null);
  const pages = useHeldPages({
    queryKey: [...PEOPLE, 'list'],
    load: loadPeople,
    rowKey: ({ id }: Person) => id,
    isLive: false,
  });
  const refresh = () => client.invalidateQueries({ queryKey: PEOPLE });
  const disable = useMutation({
    mutationFn: ({ id }: Person) => updatePerson(id, { disabled: true }),
    onSuccess: async () => {
      setDisabled(null);
      await refresh();
    },
  });
  const enable = useMutation({
    mutationFn: ({ id }: Person) => updatePerson(id, { disabled: false }),
    onSuccess: async (person) => {
      showToast({ tone: 'good', text: `${nameOfPerson(person)} may sign in again.` });
      await refresh();
    },
    onError: (error) => showToast({ tone: 'bad', text: messageOf(error) }),
  });
  const roles = grantedRoles(session);
  const isSelf = ({ id }: Person) => session.kind === 'person' && session.person.id === id;
  const isBelow = ({ account_role: role }: Person) =>
    role === null || roles.some((granted) => granted === role);
  const columns = columnsOf({
    isPhone: usePhone(),
    canChange: (person) => can('people.change', null) && !isSelf(person) && isBelow(person),
    changeRole: setChanged,
    disable: setDisabled,
    enable: enable.mutate,
  });
  return (
    <Page
      title="People"
      description="All who have signed in by an identity provider. Those who wait for a role stand first."
      actions={
        <Link to="/sign-in-settings" className={buttonClass()}>
          Roles by groups
        </Link>
      }
    >
      <Section title="People of the account" isFlush actions={<RefreshButton pages={pages} />}>
        {pages.error && pages.rows === undefined ? (
          <ErrorState error={pages.error} onRetry={pages.refresh} />
        ) : (
          <DataTable
            caption="List of people"
            columns={columns}
            rows={pages.rows}
            rowKey={({ id }) => id}
            isRowMuted={({ state }) => state === 'disabled'}
            empty={
              <EmptyState
                title="No person has signed in yet"
                action={
                  <Link to="/sign-in-settings" className={buttonClass('primary')}>
                    Set up the sign-in
                  </Link>
                }
              >
                People appear here after their first sign-in by an identity provider.
              </EmptyState>
            }
            footer={<ListFoot pages={pages} noun="people" />}
          />
        )}
      </Section>
      <OtherMembers />
      {changed !== null && (
        <RoleDialog person={changed} roles={roles} onClose={() => setChanged(null)} onSaved={refresh} />
      )}
      <ConfirmDialog
        title="Disable person"
        name={disabled === null ? '' : nameOfPerson(disabled)}
        action="Disable"
        isOpen={disabled !== null}
        mutation={disable}
        onConfirm={() => {
          if (disabled !== null) disable.mutate(disabled);
        }}
        onClose={() => setDisabled(null)}
      >
        The sessions of this person end, and the keys that this person has made stop within two seconds.
        Enabling lets the keys work again, never the sessions.
      </ConfirmDialog>
    </Page>
  );
}
