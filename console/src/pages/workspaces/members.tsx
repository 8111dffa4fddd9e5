// The members of a workspace: users, by the ids that keys name as their creators.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { peopleNamesQuery } from '../../api/people';
import type { Person } from '../../api/people';
import { addMembers, loadMembers, removeMembers, WORKSPACES } from '../../api/workspaces';
import type { Member } from '../../api/workspaces';
import { useCan } from '../../app/rights';
import { Button } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { useHeldPages } from '../../components/data/held-pages';
import { ListFoot } from '../../components/data/list-head';
import { Badge } from '../../components/display/badge';
import { Section } from '../../components/display/section';
import { Name, Time } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { Form, SelectField, TextAreaField } from '../../components/form/form';
import { ActionMenu } from '../../components/overlay/action-menu';
import { ConfirmDialog, Dialog, SubmitButtons } from '../../components/overlay/dialog';
import { capitalise } from '../../format';
import { nameOfPerson } from '../people/person-words';

const ROLES = [
  { value: 'viewer', label: 'Viewer' },
  { value: 'member', label: 'Member' },
  { value: 'admin', label: 'Admin' },
] as const;

interface ColumnOptions {
  readonly people: ReadonlyMap<string, Person> | undefined;
  /** Null: the role does not allow it. */
  readonly setRemoved: ((member: Member) => void) | null;
}

function columnsOf({ people, setRemoved }: ColumnOptions): readonly Column<Member>[] {
  const nameOf = (user: string): string => {
    const person = people?.get(user);
    return person === undefined ? user : nameOfPerson(person);
  };
  return [
    { id: 'user', header: 'User', cell: ({ user_id: user }) => <Name text={nameOf(user)} /> },
    {
      id: 'role',
      header: 'Role',
      cell: ({ role }) => <Badge tone={role === 'admin' ? 'accent' : 'neutral'}>{capitalise(role)}</Badge>,
    },
    { id: 'since', header: 'Since', priority: 2, cell: (member) => <Time at={member.created_at} /> },
    {
      id: 'actions',
      header: 'Actions',
      isHeaderHidden: true,
      align: 'end',
      cell: (member) =>
        setRemoved !== null && (
          <ActionMenu
            label={`Actions for ${nameOf(member.user_id)}`}
            actions={[{ label: 'Remove', onSelect: () => setRemoved(member), isDangerous: true }]}
          />
        ),
    },
  ];
}

export function Members({ id }: { readonly id: string }) {
  const can = useCan();
  const canChange = can('members.change', id);
  const { data: people } = useQuery({ ...peopleNamesQuery, enabled: can('people.read', null) });
  const client = useQueryClient();
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Member | null>(null);
  const queryKey = [...WORKSPACES, id, 'members'];
  const refresh = () => client.invalidateQueries({ queryKey });
  const pages = useHeldPages({
    queryKey,
    load: (cursor, signal) => loadMembers(id, cursor, signal),
    rowKey: (member: Member) => member.id,
    isLive: false,
  });
  const add = useMutation({
    mutationFn: (body: { user_ids: string[]; role: Member['role'] }) => addMembers(id, body),
    onSuccess: async () => {
      setAdding(false);
      showToast({ tone: 'good', text: 'The members were added.' });
      await refresh();
    },
  });
  const remove = useMutation({
    mutationFn: (userId: string) => removeMembers(id, { user_ids: [userId] }),
    onSuccess: async () => {
      setRemoved(null);
      await refresh();
    },
  });
  const closeAdding = () => {
    add.reset();
    setAdding(false);
  };
  const columns = columnsOf({ people, setRemoved: canChange ? setRemoved : null });
  const button = canChange && (
    <Button icon="plus" onClick={() => setAdding(true)}>
      Add members
    </Button>
  );
  return (
    <Section title="Members" isFlush actions={button}>
      {pages.error && pages.rows === undefined ? (
        <ErrorState error={pages.error} onRetry={pages.refresh} />
      ) : (
        <DataTable
          caption="List of members"
          columns={columns}
          rows={pages.rows}
          rowKey={(member) => member.id}
          empty={
            <EmptyState title="No member">
              Members are people who sign in to this console, or users of your own system, by their ids.
            </EmptyState>
          }
          footer={<ListFoot pages={pages} noun="members" />}
        />
      )}
      <Dialog title="Add members" isOpen={isAdding} onClose={closeAdding}>
        <Form
          fields={['user_ids', 'role']}
          error={add.error}
          onSubmit={(values) =>
            add.mutate({
              user_ids: values.text('user_ids').split(/\s+/).filter(Boolean),
              role: ROLES.find(({ value }) => value === values.text('role'))?.value ?? 'member',
            })
          }
        >
          <TextAreaField
            name="user_ids"
            label="User ids"
            rows={4}
            placeholder="user_abc123"
            hint="One on each line, at most 100."
          />
          <SelectField
            name="role"
            label="Role"
            choices={ROLES}
            defaultValue="member"
            hint="Of a person in this console; a user of your own system gains nothing by it. Members keep their role."
          />
          <SubmitButtons action="Add" isBusy={add.isPending} onCancel={closeAdding} />
        </Form>
      </Dialog>
      <ConfirmDialog
        title="Remove member"
        name={removed === null ? '' : (people?.get(removed.user_id)?.email ?? removed.user_id)}
        action="Remove"
        isOpen={removed !== null}
        mutation={remove}
        onConfirm={() => {
          if (removed !== null) remove.mutate(removed.user_id);
        }}
        onClose={() => setRemoved(null)}
      >
        The keys that the user has made stay.
      </ConfirmDialog>
    </Section>
  );
}
