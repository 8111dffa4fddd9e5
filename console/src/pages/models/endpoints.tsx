// The endpoints of a model with their prices and health.
import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { endpointFactsQuery } from '../../api/providers';
import type { EndpointFacts, ModelEndpoint, ModelEndpoints } from '../../api/providers';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Badge } from '../../components/display/badge';
import type { Tone } from '../../components/display/badge';
import { Section } from '../../components/display/section';
import { Absent, Time } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { formatCount, formatDuration, formatPercent } from '../../format';
import { failureInWords } from './failure-words';
import { Price } from './price';
import styles from './models.module.css';

const HUNDRED = 100;

const STATES: Readonly<Record<ModelEndpoint['status'], readonly [Tone, string, string]>> = {
  0: ['good', 'Serving', 'Calls can reach it.'],
  [-5]: ['bad', 'Circuit open', 'It failed too often. Routing skips it until a probe succeeds.'],
  [-10]: ['neutral', 'Not configured', 'The service has no credential or address for it.'],
};

interface Row {
  readonly endpoint: ModelEndpoint;
  readonly facts: EndpointFacts | undefined;
}

function StateBadge({ status }: Pick<ModelEndpoint, 'status'>) {
  const [tone, text, meaning] = STATES[status];
  return (
    <span title={meaning}>
      <Badge tone={tone}>{text}</Badge>
    </span>
  );
}

const share = (percentage: number | null) =>
  percentage === null ? <Absent /> : formatPercent(percentage / HUNDRED);

/** Prices and bounds that only endpoints of chat models have. */
const CHAT_COLUMNS: readonly Column<Row>[] = [
  {
    id: 'output',
    header: 'Output',
    align: 'end',
    cell: ({ endpoint }) => <Price perToken={endpoint.pricing.completion} />,
  },
  {
    id: 'cached',
    header: 'Cached input',
    align: 'end',
    priority: 3,
    cell: ({ endpoint: { pricing } }) =>
      pricing.input_cache_read === undefined ? <Absent /> : <Price perToken={pricing.input_cache_read} />,
  },
  {
    id: 'context',
    header: 'Context',
    align: 'end',
    priority: 2,
    cell: ({ endpoint: { context_length: length, max_completion_tokens: output } }) => (
      <span className={styles.price}>
        {formatCount(length)}
        {output !== null && <span className={styles.muted}>{formatCount(output)} out</span>}
      </span>
    ),
  },
];

const FIRST_COLUMNS: readonly Column<Row>[] = [
  {
    id: 'endpoint',
    header: 'Endpoint',
    cell: ({ endpoint: { provider_name: provider, tag, status } }) => (
      <span className={styles.nameCell}>
        {provider}
        <code className={styles.id}>{tag}</code>
        {/* Its column is hidden on phones. */}
        <span className={styles.onPhone}>
          <StateBadge status={status} />
        </span>
      </span>
    ),
  },
  {
    id: 'state',
    header: 'State',
    priority: 2,
    cell: ({ endpoint: { status } }) => <StateBadge status={status} />,
  },
  {
    id: 'input',
    header: 'Input',
    align: 'end',
    cell: ({ endpoint, facts }) => (
      <Price perToken={endpoint.pricing.prompt} from={facts?.price_from ?? null} />
    ),
  },
];

const HEALTH_COLUMNS: readonly Column<Row>[] = [
  {
    id: 'uptime',
    header: 'Up, 30 min',
    align: 'end',
    priority: 2,
    cell: ({ endpoint: { uptime_last_30m: now, uptime_last_1d: day } }) => (
      <span className={styles.price}>
        {share(now)}
        {day !== null && <span className={styles.muted}>1 day {share(day)}</span>}
      </span>
    ),
  },
  {
    id: 'latency',
    header: 'Latency p50',
    align: 'end',
    priority: 2,
    cell: ({ endpoint: { latency_last_30m: latency } }) =>
      latency === null ? <Absent /> : formatDuration(latency.p50),
  },
  {
    id: 'failure',
    header: 'Last failure',
    priority: 3,
    cell: ({ facts }) =>
      facts?.last_failure ? (
        <>
          <Time at={facts.last_failure.at} isRelative isPast />
          {`, ${failureInWords(facts.last_failure)}`}
        </>
      ) : (
        <Absent />
      ),
  },
];

interface EndpointsProps {
  readonly id: string;
  readonly endpoints: UseQueryResult<ModelEndpoints>;
}

export function Endpoints({ id, endpoints: { data, error, refetch } }: EndpointsProps) {
  const isChat = data?.architecture.output_modalities.includes('text') ?? false;
  const facts = useQuery({ ...endpointFactsQuery(id), retry: false, enabled: data !== undefined });
  return (
    <Section
      title="Endpoints"
      description="Prices are USD for a million tokens. Health is what this process has seen: it begins with its start."
      isFlush
    >
      {error && data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable
          caption="List of endpoints"
          columns={[...FIRST_COLUMNS, ...(isChat ? CHAT_COLUMNS : []), ...HEALTH_COLUMNS]}
          rows={data?.endpoints.map((endpoint) => ({ endpoint, facts: facts.data?.get(endpoint.tag) }))}
          rowKey={({ endpoint }) => endpoint.tag}
          empty={<EmptyState title="No endpoint serves this model" />}
        />
      )}
    </Section>
  );
}
