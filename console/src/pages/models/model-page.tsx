// One model: its endpoints with prices and health.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { endpointFactsQuery, modelEndpointsQuery } from '../../api/providers';
import type { EndpointFacts, ModelEndpoint } from '../../api/providers';
import { buttonClass } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Badge } from '../../components/display/badge';
import type { Tone } from '../../components/display/badge';
import { DescriptionList, Page, Section } from '../../components/display/section';
import { Absent, Code, Time } from '../../components/display/values';
import { EmptyState, ErrorState, Placeholder } from '../../components/feedback/states';
import { formatCount, formatDuration, formatPercent } from '../../format';
import { Price } from './price';
import { failureInWords } from './failure-words';
import styles from './models.module.css';

const route = getRouteApi('/app/management/models/$author/$slug');
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

export function ModelPage() {
  const { author, slug } = route.useParams();
  const { data, error, refetch } = useQuery(modelEndpointsQuery(author, slug));
  const isChat = data?.architecture.output_modalities.includes('text') ?? false;
  const facts = useQuery({ ...endpointFactsQuery(`${author}/${slug}`), retry: false });
  return (
    <Page
      title={data?.name ?? `${author}/${slug}`}
      description={data?.description}
      actions={
        <Link to="/generations" search={{ model: `${author}/${slug}` }} className={buttonClass()}>
          View generations
        </Link>
      }
    >
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
      <Section title="Details">
        {data === undefined ? (
          error ? (
            <Absent />
          ) : (
            <Placeholder />
          )
        ) : (
          <DescriptionList
            items={[
              ['Id', <Code key="id" text={data.id} what="model id" />],
              ['Takes', data.architecture.input_modalities.join(', ')],
              ['Answers with', data.architecture.output_modalities.join(', ')],
            ]}
          />
        )}
      </Section>
      {data !== undefined && <Parameters names={parametersOf(data.endpoints)} />}
    </Page>
  );
}

/** Parameters that any endpoint supports. Routing leaves out endpoints that lack a parameter that a call needs. */
function parametersOf(endpoints: readonly ModelEndpoint[]): readonly string[] {
  return [...new Set(endpoints.flatMap(({ supported_parameters: names }) => names))].toSorted();
}

function Parameters({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <Section title="Parameters" description="Members of a call that an endpoint of this model knows.">
      <ul className={styles.parameters}>
        {names.map((name) => (
          <li key={name}>
            <code>{name}</code>
          </li>
        ))}
      </ul>
    </Section>
  );
}
