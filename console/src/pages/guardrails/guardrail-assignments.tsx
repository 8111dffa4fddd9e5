// The keys and members that a guardrail governs.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import {
  assignKeys,
  assignMembers,
  GUARDRAILS,
  loadAssignedKeys,
  loadAssignedMembers,
  unassignKey,
  unassignMember,
} from '../../api/guardrails';
import type { KeyAssignment, MemberAssignment } from '../../api/guardrails';
import { messageOf } from '../../api/problems';
import { Button } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { useHeldPages } from '../../components/data/held-pages';
import type { CursorPage } from '../../components/data/held-pages';
import { ListFoot } from '../../components/data/list-head';
import { Section } from '../../components/display/section';
import { Name, Time } from '../../components/display/values';
import { EmptyState, ErrorState, Notice } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { Form, TextAreaField } from '../../components/form/form';
import { KeyList } from '../../components/form/key-choice';
import { Dialog, SubmitButtons } from '../../components/overlay/dialog';

interface Subject<Row> {
  /** "Keys" */
  readonly title: string;
  readonly noun: string;
  readonly empty: string;
  readonly nameOf: (row: Row) => string;
  readonly cell: (row: Row) => ReactNode;
  readonly load: (id: string, cursor: string | undefined, signal: AbortSignal) => Promise<CursorPage<Row>>;
  readonly release: (id: string, row: Row) => Promise<void>;
}

const KEYS: Subject<KeyAssignment> = {
  title: 'Keys',
  noun: 'keys',
  empty: 'A key has at most one guardrail of its own.',
  nameOf: ({ key_name: name }) => name,
  cell: ({ key_hash: hash, key_name: name }) => (
    <Link to="/keys/$hash" params={{ hash }}>
      <Name text={name} />
    </Link>
  ),
  load: loadAssignedKeys,
  release: (id, { key_hash: hash }) => unassignKey(id, hash),
};

const MEMBERS: Subject<MemberAssignment> = {
  title: 'Members',
  noun: 'members',
  empty: 'The guardrail of a member governs all keys that the member has created.',
  nameOf: ({ user_id: user }) => user,
  cell: ({ user_id: user }) => <Name text={user} />,
  load: loadAssignedMembers,
  release: (id, { user_id: user }) => unassignMember(id, user),
};

function columnsOf<Row extends { readonly created_at: string }>(
  { title, nameOf, cell }: Subject<Row>,
  onRelease: ((row: Row) => void) | null,
): readonly Column<Row>[] {
  return [
    { id: 'name', header: title.slice(0, -1), cell },
    { id: 'since', header: 'Since', priority: 2, cell: (row) => <Time at={row.created_at} /> },
    {
      id: 'actions',
      header: 'Actions',
      isHeaderHidden: true,
      align: 'end',
      cell: (row) =>
        onRelease !== null && (
          <Button variant="ghost" aria-label={`Release ${nameOf(row)}`} onClick={() => onRelease(row)}>
            Release
          </Button>
        ),
    },
  ];
}

interface AssignmentsProps<Row> {
  readonly id: string;
  readonly subject: Subject<Row>;
  readonly canChange: boolean;
  /** The form of the dialog. */
  readonly children: (close: () => void) => ReactNode;
}

function Assignments<Row extends { readonly id: string; readonly created_at: string }>({
  id,
  subject,
  canChange,
  children,
}: AssignmentsProps<Row>) {
  const { title, noun, empty, load, release } = subject;
  const client = useQueryClient();
  const [isAdding, setAdding] = useState(false);
  const close = () => setAdding(false);
  const pages = useHeldPages({
    queryKey: [...GUARDRAILS, id, noun],
    load: (cursor, signal) => load(id, cursor, signal),
    rowKey: (row: Row) => row.id,
    isLive: false,
  });
  const remove = useMutation({
    mutationFn: (row: Row) => release(id, row),
    onSuccess: () => client.invalidateQueries({ queryKey: GUARDRAILS }),
    onError: (error) => showToast({ tone: 'bad', text: messageOf(error) }),
  });
  const button = canChange && (
    <Button icon="plus" onClick={() => setAdding(true)}>
      Assign {noun}
    </Button>
  );
  return (
    <Section title={title} isFlush actions={button}>
      {pages.error && pages.rows === undefined ? (
        <ErrorState error={pages.error} onRetry={pages.refresh} />
      ) : (
        <DataTable
          caption={`${title} with the guardrail`}
          columns={columnsOf(subject, canChange ? remove.mutate : null)}
          rows={pages.rows}
          rowKey={(row) => row.id}
          empty={<EmptyState title={`No ${noun.slice(0, -1)}`}>{empty}</EmptyState>}
          footer={<ListFoot pages={pages} noun={noun} />}
        />
      )}
      <Dialog title={`Assign ${noun}`} isOpen={isAdding} onClose={close}>
        {isAdding && children(close)}
      </Dialog>
    </Section>
  );
}

interface AssignmentFormProps {
  readonly id: string;
  readonly onDone: () => void;
}

function useAssignment(assign: (ids: readonly string[]) => Promise<void>, onDone: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: assign,
    onSuccess: async () => {
      onDone();
      await client.invalidateQueries({ queryKey: GUARDRAILS });
    },
  });
}

function KeysForm({ id, workspaceId, onDone }: AssignmentFormProps & { readonly workspaceId: string }) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const assign = useAssignment((hashes) => assignKeys(id, hashes), onDone);
  return (
    <Form fields={[]} error={assign.error} onSubmit={() => chosen.length > 0 && assign.mutate(chosen)}>
      <Notice tone="info">A key that has another guardrail gets this one instead.</Notice>
      <KeyList workspaceId={workspaceId} chosen={chosen} onChange={(next) => setChosen(next ?? [])} />
      <SubmitButtons action="Assign" isBusy={assign.isPending} onCancel={onDone} />
    </Form>
  );
}

function MembersForm({ id, onDone }: AssignmentFormProps) {
  const assign = useAssignment((userIds) => assignMembers(id, userIds), onDone);
  return (
    <Form
      fields={['member_user_ids']}
      error={assign.error}
      onSubmit={(values) => assign.mutate(values.text('member_user_ids').split(/\s+/).filter(Boolean))}
    >
      <TextAreaField
        name="member_user_ids"
        label="User ids"
        rows={4}
        placeholder="user_abc123"
        hint="Members of the workspace, one on each line, at most 100."
      />
      <SubmitButtons action="Assign" isBusy={assign.isPending} onCancel={onDone} />
    </Form>
  );
}

interface AssignedProps {
  readonly id: string;
  readonly canChange: boolean;
}

export function AssignedKeys({ workspaceId, ...props }: AssignedProps & { readonly workspaceId: string }) {
  const { id } = props;
  return (
    <Assignments {...props} subject={KEYS}>
      {(close) => <KeysForm id={id} workspaceId={workspaceId} onDone={close} />}
    </Assignments>
  );
}

export function AssignedMembers(props: AssignedProps) {
  return (
    <Assignments {...props} subject={MEMBERS}>
      {(close) => <MembersForm id={props.id} onDone={close} />}
    </Assignments>
  );
}
