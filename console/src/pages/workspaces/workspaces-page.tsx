// The workspaces of the account.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { workspacesQuery } from '../../api/workspaces';
import type { Workspace } from '../../api/workspaces';
import { Button } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Badge } from '../../components/display/badge';
import { Page, Section } from '../../components/display/section';
import { Absent, Name, Time } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { formatCount } from '../../format';
import { CreateWorkspaceDialog } from './workspace-dialogs';
import styles from './workspaces.module.css';

const COLUMNS: readonly Column<Workspace>[] = [
  {
    id: 'name',
    header: 'Name',
    cell: ({ id, name, slug }) => (
      <span className={styles.nameCell}>
        <Link to="/workspaces/$id" params={{ id }}>
          <Name text={name} />
        </Link>
        <code className={styles.slug}>{slug}</code>
      </span>
    ),
  },
  {
    id: 'description',
    header: 'Description',
    priority: 2,
    cell: ({ description }) => (description === null ? <Absent /> : <Name text={description} />),
  },
  {
    id: 'deliveries',
    header: 'Deliveries',
    cell: ({ is_observability_broadcast_enabled: isOn }) =>
      isOn ? <Badge tone="good">On</Badge> : <Badge tone="neutral">Off</Badge>,
  },
  { id: 'created', header: 'Created', priority: 3, cell: (workspace) => <Time at={workspace.created_at} /> },
];

export function WorkspacesPage() {
  const { data, error, refetch } = useQuery(workspacesQuery);
  const [isCreating, setCreating] = useState(false);
  const create = (
    <Button variant="primary" icon="plus" onClick={() => setCreating(true)}>
      Create workspace
    </Button>
  );
  return (
    <Page
      title="Workspaces"
      description="A workspace groups keys, destinations and provider keys. Its budgets bound what all of its keys spend together."
      actions={create}
    >
      <Section title="Workspaces of the account" isFlush>
        {error && data === undefined ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : (
          <DataTable
            caption="Workspaces"
            columns={COLUMNS}
            rows={data}
            rowKey={({ id }) => id}
            empty={
              <EmptyState title="No workspace" action={create}>
                Create the first one.
              </EmptyState>
            }
            footer={data && `${formatCount(data.length)} workspaces`}
          />
        )}
      </Section>
      <CreateWorkspaceDialog isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}
