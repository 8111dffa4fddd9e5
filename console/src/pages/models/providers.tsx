// The providers of the service: those that calls can reach, with their health, and those that need a variable first.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { providerHealthQuery } from '../../api/provider-health';
import type { ProviderHealth } from '../../api/provider-health';
import { loadProviderKeys, PROVIDER_KEYS } from '../../api/provider-keys';
import { useCan } from '../../app/rights';
import { useWorkspaceId } from '../../app/workspace';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Badge } from '../../components/display/badge';
import { Section } from '../../components/display/section';
import { Absent, Time } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { FailingBadge } from '../../components/provider/failing-badge';
import { ProviderTestButton } from '../../components/provider/provider-test';
import { formatCount, formatDuration } from '../../format';
import { failureInWords } from './failure-words';
import styles from './models.module.css';

interface Row {
  readonly health: ProviderHealth;
  /** Enabled own keys of the workspace. */
  readonly ownKeys: number;
}

/** `canTest`: with the keys of the service. */
const columnsOf = (canTest: boolean, canReadOwn: boolean): readonly Column<Row>[] => [
  {
    id: 'name',
    header: 'Provider',
    cell: ({ health: { provider: slug, provider_name: name } }) => (
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
        {isConfigured(health) && <Badge tone="good">Configured</Badge>}
        {canReadOwn && ownKeys > 0 && (
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
    cell: ({ health: { latency_last_30m: latency } }) => (latency === null ? <Absent /> : rangeOf(latency)),
  },
  {
    id: 'failure',
    header: 'Last failure',
    priority: 3,
    cell: ({ health: { last_failure: failure } }) =>
      failure === null ? (
        <Absent />
      ) : (
        <span title={failure.class.replaceAll('_', ' ')}>
          {failureInWords(failure)}, <Time at={failure.at} isRelative isPast />
        </span>
      ),
  },
  ...(canTest
    ? [
        {
          id: 'test',
          header: 'Test',
          align: 'end',
          cell: ({ health }) =>
            isConfigured(health) ? (
              <ProviderTestButton slug={health.provider} name={health.provider_name} />
            ) : (
              <Link to="/provider-keys">Test the own key</Link>
            ),
        } satisfies Column<Row>,
      ]
    : []),
];

const isConfigured = ({ configured_endpoints: configured }: ProviderHealth): boolean => configured > 0;

function rangeOf([low = 0, high = low]: readonly number[]): string {
  const [from, to] = [formatDuration(low), formatDuration(high)];
  return from === to ? from : `${from} to ${to}`;
}

function State({ health }: { readonly health: ProviderHealth }) {
  const { configured_endpoints: endpoints, open_endpoints: open, latency_last_30m: latency } = health;
  if (endpoints === 0) return <Absent />;
  if (open > 0) return <FailingBadge health={health} />;
  return latency === null ? <Badge tone="neutral">No recent call</Badge> : <Badge tone="good">Answers</Badge>;
}

export function Providers() {
  const workspaceId = useWorkspaceId();
  const can = useCan();
  const canReadOwn = can('provider_keys.read', workspaceId);
  const canTest = can('providers.test', null);
  const own = useQuery({
    enabled: canReadOwn,
    queryKey: [...PROVIDER_KEYS, 'choices', workspaceId],
    queryFn: async ({ signal }) => (await loadProviderKeys(workspaceId, undefined, signal)).data,
  });
  const { data, error, refetch } = useQuery(providerHealthQuery);
  const ownKeysOf = (slug: string): number =>
    (own.data ?? []).filter(({ provider, disabled }) => provider === slug && !disabled).length;
  const rows = data?.map((health): Row => ({ health, ownKeys: ownKeysOf(health.provider) }));
  const isReachable = ({ health, ownKeys }: Row): boolean => isConfigured(health) || ownKeys > 0;
  const others = rows?.filter((row) => !isReachable(row)) ?? [];
  return (
    <Section
      title="Providers"
      description={
        canTest ? 'A test sends one small call with the key that the service was started with.' : undefined
      }
      isFlush
    >
      {error && data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable
          caption="List of providers"
          columns={columnsOf(canTest, canReadOwn)}
          rows={rows?.filter(isReachable)}
          rowKey={({ health: { provider } }) => provider}
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
        {rows.map(({ health: { provider: slug, provider_name: name, endpoints } }) => (
          <li key={slug}>
            <Link to="/models" search={{ provider: slug, show: 'all' }}>
              {name}
            </Link>
            <span>
              <code>{variableOf(slug)}_API_KEY</code>, <code>{variableOf(slug)}_BASE_URL</code>
              {endpoints === 0 && ', and models in the catalogue'}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** docs/operating.md#providers */
const variableOf = (slug: string): string => slug.toUpperCase().replaceAll('-', '_');
