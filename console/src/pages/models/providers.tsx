// The providers that this service can call.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { loadProviderKeys, PROVIDER_KEYS } from '../../api/provider-keys';
import type { Provider } from '../../api/providers';
import { useWorkspaceId } from '../../app/workspace';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Badge } from '../../components/display/badge';
import { Section } from '../../components/display/section';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { ProviderTestButton } from '../../components/provider/provider-test';
import styles from './models.module.css';

function columnsOf(keysOf: (slug: string) => number): readonly Column<Provider>[] {
  return [
    {
      id: 'name',
      header: 'Provider',
      cell: ({ slug, name }) => (
        <span className={styles.nameCell}>
          <Link to="/models" search={{ provider: slug, show: 'all' }}>
            {name}
          </Link>
          <code className={styles.id}>{slug}</code>
        </span>
      ),
    },
    {
      id: 'key',
      header: 'Key',
      priority: 2,
      cell: ({ slug }) =>
        keysOf(slug) === 0 ? (
          <span className={styles.muted}>Shared</span>
        ) : (
          <Link to="/provider-keys">
            <Badge tone="accent">{keysOf(slug) === 1 ? 'Own key' : `${keysOf(slug)} own keys`}</Badge>
          </Link>
        ),
    },
    {
      id: 'test',
      header: 'Test',
      align: 'end',
      cell: ({ slug, name }) => <ProviderTestButton slug={slug} name={name} />,
    },
  ];
}

interface ProvidersProps {
  readonly providers: readonly Provider[] | undefined;
  readonly error: unknown;
  readonly onRetry: () => void;
}

export function Providers({ providers, error, onRetry }: ProvidersProps) {
  const workspaceId = useWorkspaceId();
  const own = useQuery({
    queryKey: [...PROVIDER_KEYS, 'choices', workspaceId],
    queryFn: async ({ signal }) => (await loadProviderKeys(workspaceId, undefined, signal)).data,
  });
  const keysOf = (slug: string) =>
    (own.data ?? []).filter(({ provider, disabled }) => provider === slug && !disabled).length;
  const columns = columnsOf(keysOf);
  return (
    <Section
      title="Providers"
      description="A test sends one small call with the shared key of the service. Own keys are tested among the provider keys."
      isFlush
    >
      {error && providers === undefined ? (
        <ErrorState error={error} onRetry={onRetry} />
      ) : (
        <DataTable
          caption="List of providers"
          columns={columns}
          rows={providers}
          rowKey={({ slug }) => slug}
          empty={<EmptyState title="No provider" />}
        />
      )}
    </Section>
  );
}
