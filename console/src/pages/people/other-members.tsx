// Members of the workspace who are no people: users of the operator's own system, by their ids.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { loadMembers, WORKSPACES } from '../../api/workspaces';
import type { Member } from '../../api/workspaces';
import { isPersonId } from '../../api/people';
import { useWorkspaceId } from '../../app/workspace';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { WorkspaceName } from '../../components/data/workspace-name';
import { Section } from '../../components/display/section';
import { Name, Time } from '../../components/display/values';
import { capitalise } from '../../format';

const COLUMNS: readonly Column<Member>[] = [
  { id: 'user', header: 'User', cell: ({ user_id: user }) => <Name text={user} /> },
  { id: 'role', header: 'Role', cell: ({ role }) => capitalise(role) },
  { id: 'since', header: 'Since', priority: 2, cell: (member) => <Time at={member.created_at} /> },
];

/** Nothing where there is none. */
export function OtherMembers() {
  const workspaceId = useWorkspaceId();
  const { data } = useQuery({
    queryKey: [...WORKSPACES, workspaceId, 'members', 'others'],
    queryFn: async ({ signal }) => (await loadMembers(workspaceId, undefined, signal)).data,
    select: (members) => members.filter(({ user_id: user }) => !isPersonId(user)),
  });
  if (data === undefined || data.length === 0) return null;
  return (
    <Section
      title="Members without a sign-in"
      description={
        <>
          Users of your own system in <WorkspaceName id={workspaceId} />. They have no rights in this console.
        </>
      }
      actions={
        <Link to="/workspaces/$id" params={{ id: workspaceId }}>
          All members
        </Link>
      }
      isFlush
    >
      <DataTable
        caption="Members without a sign-in"
        columns={COLUMNS}
        rows={data}
        rowKey={({ id }) => id}
        empty={null}
      />
    </Section>
  );
}
