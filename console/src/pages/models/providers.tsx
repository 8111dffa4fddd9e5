// The providers of the service: those that calls can reach, with their health, and those that need a variable first.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { endpointsByProviderQuery, healthOf } from '../../api/provider-health';
import type { ProviderHealth } from '../../api/provider-health';
import { loadProviderKeys, PROVIDER_KEYS } from '../../api/provider-keys';
import type { Provider } from '../../api/providers';
import { useWorkspaceId } from '../../app/workspace';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Badge } from '../../components/display/badge';
import { Section } from '../../components/display/section';
import { Absent, Time } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { ProviderTestButton } from '../../components/provider/provider-test';
import { formatCount, formatDuration } from '../../format';
import styles from './models.module.css';

interface Row {
  readonly provider: Provider;
  readonly health: ProviderHealth;
  /** Enabled own keys of the workspace. */
  readonly ownKeys: number;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'name',
    header: 'Provider',
    cell: ({ provider: { slug, name } }) => (
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
    cell: ({ health, ownKeys }) => (
      <span className={styles.badges}>
        {health.setup === 'configured' && <Badge tone="good">Configured</Badge>}
        {ownKeys > 0 && (
          <Link to="/provider-keys">
            <Badge tone="accent">{ownKeys === 1 ? 'Own key' : `${ownKeys} own keys`}</Badge>
          </Link>
        )}
      </span>
    ),
  },
  { id: 'state', header: 'State', cell: ({ health }) => <State health={health} /> },
  {
    id: 'latency',
    header: 'Latency, 30 min',
    align: 'end',
    priority: 3,
    cell: ({ health: { latency } }) => (latency === null ? <Absent /> : rangeOf(latency)),
  },
  {
    id: 'failure',
    header: 'Last failure',
    priority: 3,
    cell: ({ health: { lastFailure } }) =>
      lastFailure === null ? (
        <Absent />
      ) : (
        <span title={lastFailure.class.replaceAll('_', ' ')}>
          {lastFailure.status === null ? 'No answer' : `HTTP ${lastFailure.status}`},{' '}
          <Time at={lastFailure.at} isRelative isPast />
        </span>
      ),
  },
  {
    id: 'test',
    header: 'Test',
    align: 'end',
    cell: ({ provider: { slug, name }, health }) =>
      health.setup === 'configured' ? (
        <ProviderTestButton slug={slug} name={name} />
      ) : (
        <Link to="/provider-keys">Test the own key</Link>
      ),
  },
];

function rangeOf([low, high]: readonly [number, number]): string {
  const [from, to] = [formatDuration(low), formatDuration(high)];
  return from === to ? from : `${from} to ${to}`;
}

function State({ health: { setup, endpoints, open, latency } }: { readonly health: ProviderHealth }) {
  if (setup !== 'configured') return <Absent />;
  if (open === endpoints) return <Badge tone="bad">Not answering</Badge>;
  if (open > 0)
    return (
      <Badge tone="warning">
        {formatCount(open)} of {formatCount(endpoints)} models fail
      </Badge>
    );
  return latency === null ? <Badge tone="neutral">No recent call</Badge> : <Badge tone="good">Answers</Badge>;
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
  const endpoints = useQuery(endpointsByProviderQuery);
  const failure = error ?? (endpoints.data === undefined ? endpoints.error : null);
  const rows =
    endpoints.data &&
    providers?.map((provider): Row => {
      const { slug } = provider;
      const isOwn = (key: { readonly provider: string; readonly disabled: boolean }) =>
        key.provider === slug && !key.disabled;
      return {
        provider,
        health: healthOf(endpoints.data.get(slug)),
        ownKeys: (own.data ?? []).filter(isOwn).length,
      };
    });
  const isReachable = ({ health, ownKeys }: Row): boolean => health.setup === 'configured' || ownKeys > 0;
  const others = rows?.filter((row) => !isReachable(row)) ?? [];
  return (
    <Section
      title="Providers"
      description="A test sends one small call with the key that the service was started with."
      isFlush
    >
      {failure && (providers === undefined || endpoints.data === undefined) ? (
        <ErrorState
          error={failure}
          onRetry={() => {
            onRetry();
            void endpoints.refetch();
          }}
        />
      ) : (
        <DataTable
          caption="List of providers"
          columns={COLUMNS}
          rows={rows?.filter(isReachable)}
          rowKey={({ provider: { slug } }) => slug}
          empty={
            <EmptyState title="No provider is configured">
              Start the service with the key of one, or add an own key.
            </EmptyState>
          }
          footer={others.length > 0 && <OtherProviders rows={others} />}
        />
      )}
    </Section>
  );
}

/** Folded: most services use a few. */
function OtherProviders({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <details className={styles.others}>
      <summary>Not configured: {formatCount(rows.length)}</summary>
      <p>
        Start the service with these variables, or <Link to="/provider-keys">add an own key</Link>. The
        address has a default where the provider has a public one.
      </p>
      <ul>
        {rows.map(({ provider: { slug, name }, health: { setup } }) => (
          <li key={slug}>
            <Link to="/models" search={{ provider: slug, show: 'all' }}>
              {name}
            </Link>
            <span>
              <code>{variableOf(slug)}_API_KEY</code>, <code>{variableOf(slug)}_BASE_URL</code>
              {setup === 'unknown' && ', and models in the catalogue'}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** docs/operating.md#providers */
const variableOf = (slug: string): string => slug.toUpperCase().replaceAll('-', '_');
