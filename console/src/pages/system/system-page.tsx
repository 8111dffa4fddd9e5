// The state of the service, for its operator.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { systemQuery } from '../../api/system';
import type { System } from '../../api/system';
import { Badge } from '../../components/display/badge';
import { useNow } from '../../components/display/clock';
import { DescriptionList, Page, Section } from '../../components/display/section';
import { StatTile, StatTiles } from '../../components/display/stat-tile';
import { Absent, Code, Time } from '../../components/display/values';
import { ErrorState, Notice, Placeholder } from '../../components/feedback/states';
import { formatCount, formatCountOf, formatDuration, formatPercent } from '../../format';
import styles from './system.module.css';

const SECOND_MS = 1000;
// Every call holds a transaction for a moment.
const WORTH_A_WARNING_S = 10;
const MIB = 1024 * 1024;

export function SystemPage() {
  const { data, error, refetch } = useQuery(systemQuery);
  return (
    <Page title="System" description="The service as the replica that answers sees it.">
      {error && data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <SystemView system={data} />
      )}
    </Page>
  );
}

function SystemView({ system }: { readonly system: System | undefined }) {
  const heldBack = system?.deliveries.held_back_seconds ?? 0;
  return (
    <>
      {system && system.migrations.pending.length > 0 && (
        <Notice tone="bad">
          The database lacks migrations of this version: {system.migrations.pending.join(', ')}. Run npm run
          db:migrate, or restart the service.
        </Notice>
      )}
      {heldBack >= WORTH_A_WARNING_S && (
        <Notice tone="warning">
          A transaction in {system?.deliveries.held_back_by ?? 'the database'} is open for{' '}
          {formatDuration(heldBack * SECOND_MS)} and holds back all deliveries. They continue when it ends.
        </Notice>
      )}
      {system?.provider_addresses.map(({ problem }) => (
        <Notice key={problem} tone="warning">
          {problem}.
        </Notice>
      ))}
      <SystemFigures system={system} />
      <Section title="Service">
        {system === undefined ? <Placeholder /> : <ServiceList system={system} />}
      </Section>
      <Section title="Deliveries" description="Of the destinations of this account.">
        {system === undefined ? <Placeholder /> : <DeliveryList system={system} />}
      </Section>
      <Section
        title="Encryption"
        description="Keys that encrypt the settings of destinations and the provider keys of this account."
      >
        {system === undefined ? <Placeholder /> : <EncryptionList system={system} />}
      </Section>
    </>
  );
}

function SystemFigures({ system }: { readonly system: System | undefined }) {
  const now = useNow();
  const oldest = system?.deliveries.oldest_pending_at ?? null;
  return (
    <StatTiles>
      <StatTile label="Version" value={system?.version} detail={system && `Node ${system.node_version}`} />
      <StatTile
        label="Processes"
        value={system && formatCount(system.processes.live)}
        detail="Of all replicas"
      />
      <StatTile
        label="Delivery lag"
        value={system && (oldest === null ? 'None' : formatDuration(Math.max(0, now - Date.parse(oldest))))}
        detail={
          system && system.deliveries.waiting === 1
            ? '1 destination has a backlog'
            : system && `${formatCount(system.deliveries.waiting)} destinations have a backlog`
        }
      />
      <StatTile
        label="Longest transaction"
        value={system && formatDuration(system.deliveries.held_back_seconds * SECOND_MS)}
        detail="Deliveries wait for it"
      />
    </StatTiles>
  );
}

function ServiceList({ system: { migrations, processes, cache, ...system } }: { readonly system: System }) {
  const asked = cache.hits + cache.misses;
  return (
    <DescriptionList
      items={[
        ['Started', <Time key="started" at={system.started_at} />],
        ['PostgreSQL', system.postgres_version],
        [
          'Migrations',
          migrations.pending.length === 0 ? (
            <span key="migrations">
              {formatCount(migrations.applied)} applied <Badge tone="good">Current</Badge>
            </span>
          ) : (
            <Badge key="migrations" tone="bad">
              {migrations.pending.length} pending
            </Badge>
          ),
        ],
        [
          'Latest migration',
          migrations.latest === null ? (
            <Absent key="latest" />
          ) : (
            <Code key="latest" text={migrations.latest} />
          ),
        ],
        ['Workers', `${formatCount(processes.workers)} in this replica`],
        [
          'Deliveries',
          processes.delivery_process ? 'A process for deliveries alone' : 'Deliveries run in the workers',
        ],
        [
          'Rate limits',
          processes.shared_rate_limits ? 'Shared through Redis' : 'Each process counts for itself',
        ],
        [
          'Embedding cache',
          cache.max_bytes === 0
            ? 'Off'
            : `${formatCount(cache.max_bytes / MIB)} MiB, kept ${formatDuration(cache.ttl * SECOND_MS)}`,
        ],
        [
          'Cache hits',
          asked === 0
            ? 'No call has used it'
            : `${formatPercent(cache.hits / asked)} of ${formatCount(asked)} inputs`,
        ],
      ]}
    />
  );
}

function DeliveryList({ system: { deliveries } }: { readonly system: System }) {
  const counted = (count: number, tone: 'warning' | 'bad') =>
    count === 0 ? '0' : <Badge tone={tone}>{formatCount(count)}</Badge>;
  return (
    <DescriptionList
      items={[
        [
          'Enabled',
          <Link key="enabled" to="/destinations">
            {formatCountOf(deliveries.destinations, 'destination')}
          </Link>,
        ],
        ['With a backlog', formatCount(deliveries.waiting)],
        ['Retrying', counted(deliveries.retrying, 'warning')],
        ['Paused', counted(deliveries.paused, 'bad')],
        [
          'Oldest waiting',
          <Time key="oldest" at={deliveries.oldest_pending_at} absent="None" isRelative isPast />,
        ],
        ...(deliveries.held_back_by === null ? [] : [['Held back by', deliveries.held_back_by] as const]),
      ]}
    />
  );
}

function EncryptionList({ system: { encryption } }: { readonly system: System }) {
  const { current_key_id: current, known_key_ids: known, key_ids_in_use: used } = encryption;
  const rowsOf = (id: string) => used.find((key) => key.id === id)?.rows ?? 0;
  const ids = [...new Set([...known, ...used.map(({ id }) => id)])];
  if (ids.length === 0) return <p>No encryption key is set.</p>;
  return (
    <ul className={styles.keys}>
      {ids.map((id) => (
        <li key={id} className={styles.key}>
          <Code text={id} />
          {id === current && <Badge tone="accent">Encrypts</Badge>}
          {!known.includes(id) && <Badge tone="bad">Missing in ENCRYPTION_KEYS</Badge>}
          <span className={styles.rows}>{formatCount(rowsOf(id))} objects</span>
        </li>
      ))}
    </ul>
  );
}
