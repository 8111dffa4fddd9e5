// Federation policies of the account: jobs that get an access token of a key without a stored secret.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { federationPoliciesQuery } from '../../api/federation';
import type { FederationPolicy } from '../../api/federation';
import { buttonClass } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { KeyName } from '../../components/data/key-name';
import { WorkspaceName } from '../../components/data/workspace-name';
import { Badge } from '../../components/display/badge';
import { Icon } from '../../components/display/icon';
import { Page, Section } from '../../components/display/section';
import { Name } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import styles from './policies.module.css';

const COLUMNS: readonly Column<FederationPolicy>[] = [
  {
    id: 'name',
    header: 'Name',
    cell: ({ id, name, subject }) => (
      <span className={styles.nameCell}>
        <Link to="/workload-identity/$id" params={{ id }}>
          <Name text={name} />
        </Link>
        <bdi className={styles.subject}>{subject}</bdi>
      </span>
    ),
  },
  { id: 'issuer', header: 'Issuer', priority: 2, cell: ({ issuer }) => <Name text={issuer} /> },
  {
    id: 'key',
    header: 'Acts as key',
    cell: ({ api_key_hash: hash }) => (
      <Link to="/keys/$hash" params={{ hash }}>
        <KeyName hash={hash} />
      </Link>
    ),
  },
  {
    id: 'where',
    header: 'Workspace',
    priority: 3,
    cell: ({ workspace_id: id }) => <WorkspaceName id={id} />,
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ enabled }) => (enabled ? <Badge tone="good">On</Badge> : <Badge tone="neutral">Off</Badge>),
  },
];

export function PoliciesPage() {
  const { data, error, refetch } = useQuery(federationPoliciesQuery);
  const create = (
    <Link to="/workload-identity/new" className={buttonClass('primary')}>
      <Icon name="plus" /> Add policy
    </Link>
  );
  return (
    <Page
      title="Workload identity"
      description="Jobs exchange the token of their own platform for an access token of a key. No secret is stored."
      actions={create}
    >
      <Section title="Policies of the account" isFlush>
        {error && data === undefined ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : (
          <DataTable
            caption="Policies"
            columns={COLUMNS}
            rows={data}
            rowKey={({ id }) => id}
            isRowMuted={({ enabled }) => !enabled}
            empty={
              <EmptyState title="No policy yet" action={create}>
                Name the issuer, one job and the key whose limits hold: a workflow of GitHub Actions or a pod
                of Kubernetes then calls models for minutes at a time, with nothing to store or rotate.
              </EmptyState>
            }
          />
        )}
      </Section>
    </Page>
  );
}
