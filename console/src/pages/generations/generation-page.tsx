// One call: its attempts, its cost, its ids, its deliveries, its content.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { generationQuery } from '../../api/generations';
import type { Generation } from '../../api/generations';
import { useCan } from '../../app/rights';
import { useObjectWorkspace } from '../../app/workspace';
import { buttonClass } from '../../components/actions/button';
import { KeyName } from '../../components/data/key-name';
import { DescriptionList, Page, Section } from '../../components/display/section';
import { StatTile, StatTiles } from '../../components/display/stat-tile';
import { Absent, Code, ModelId, Money, Name, Time } from '../../components/display/values';
import { ErrorState, Notice, Placeholder } from '../../components/feedback/states';
import { capitalise, formatCount, formatDuration } from '../../format';
import { Attempts } from './attempts';
import { endInWords, nameOfApi, providerApiOf } from './call-route';
import { Content } from './content';
import { Cost } from './cost';
import { Deliveries } from './deliveries';
import { causeOf, nameOfError } from './failure-causes';
import styles from './generations.module.css';
import { nameOfFilter } from '../guardrails/guardrail-words';
import { SessionCalls } from './session-calls';
import { usageOrigin } from './usage-origin';

const route = getRouteApi('/app/management/generations/$id');

export function GenerationPage() {
  const { id } = route.useParams();
  const { data: generation, error, refetch } = useQuery(generationQuery(id));
  const back = (
    <Link to="/generations" className={buttonClass('secondary')}>
      All generations
    </Link>
  );
  if (generation === undefined) {
    return (
      <Page title="Generation" actions={back}>
        {error === null ? (
          <Placeholder lines={8} />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    );
  }
  return <GenerationView generation={generation} back={back} />;
}

function GenerationView({ generation, back }: { readonly generation: Generation; readonly back: ReactNode }) {
  useObjectWorkspace(generation.workspace_id ?? undefined);
  const can = useCan();
  const { latency, status, cancelled: isCancelled } = generation;
  const isRerank = generation.api_type === 'rerank';
  const isChat = !isRerank && generation.api_type !== 'embeddings';
  // A caller that left has not met a failure.
  const hasFailed = status >= 400 && !isCancelled;
  return (
    <Page
      title="Generation"
      description={
        <>
          <Name text={generation.model} /> · <Time at={generation.created_at} />
        </>
      }
      actions={back}
    >
      {hasFailed && <Failure generation={generation} />}
      {isCancelled && (
        <Notice tone="warning">
          <strong>The caller left before the end.</strong> The tokens that the provider bills are charged.
        </Notice>
      )}
      <StatTiles>
        <StatTile label="Charged" value={<Money usd={generation.usage} />} />
        <StatTile
          label="Latency"
          value={latency === null ? '–' : formatDuration(latency)}
          detail={firstTokenOf(generation)}
        />
        <StatTile {...tokensOf(generation, isChat)} />
        <CacheTile generation={generation} />
        <StatTile label="Provider" value={generation.provider_name ?? '–'} />
      </StatTiles>
      <Attempts attempts={generation.provider_responses ?? []} latency={latency} hasFailed={hasFailed} />
      {(generation.usage > 0 || !hasFailed) && <Cost generation={generation} />}
      <Deliveries id={generation.id} workspaceId={generation.workspace_id} />
      {can('calls.read_content', generation.workspace_id) && <Content id={generation.id} isChat={isChat} />}
      {generation.session_id !== null && (
        <SessionCalls generation={generation} session={generation.session_id} />
      )}
      <Section title="Details">
        <DescriptionList
          items={[
            ...(isChat ? chatDetailsOf(generation) : []),
            ...(isRerank ? rerankDetailsOf(generation) : []),
            ...detailsOf(generation),
          ]}
        />
      </Section>
    </Page>
  );
}

function firstTokenOf({ time_to_first_token: first }: Generation): string | undefined {
  return first === null ? undefined : `First token after ${formatDuration(first)}`;
}

/** A chat shows both sides, embeddings their only one, and rerank the units of its price. */
function tokensOf(
  { tokens_prompt: prompt, tokens_completion: completion, search_units: units }: Generation,
  isChat: boolean,
) {
  if (units !== null) return { label: 'Search units', value: formatCount(units) };
  if (prompt === null) return { label: 'Tokens', value: '–' };
  if (!isChat || completion === null) return { label: 'Input tokens', value: formatCount(prompt) };
  return {
    label: 'Tokens',
    value: formatCount(prompt + completion),
    detail: `${formatCount(prompt)} prompt, ${formatCount(completion)} answer`,
  };
}

/** Of the prompt: what the cache held, what was written to it, and what that has saved. */
function CacheTile({ generation }: { readonly generation: Generation }) {
  const { cost_parts: parts, cache_discount: saved } = generation;
  const tokensIn = (...names: readonly string[]): number =>
    (parts ?? []).reduce((sum, { part, tokens }) => (names.includes(part) ? sum + tokens : sum), 0);
  const [read, written] = [tokensIn('cached'), tokensIn('cache_write', 'cache_write_1h')];
  if (read + written === 0) return null;
  return (
    <StatTile
      label="From the prompt cache"
      value={formatCount(read)}
      detail={
        <>
          {written > 0 && `${formatCount(written)} written. `}
          {saved !== null && (
            <>
              {saved < 0 ? 'Costs more: ' : 'Saves '}
              <Money usd={Math.abs(saved)} />
            </>
          )}
        </>
      }
    />
  );
}

function Failure({ generation }: { readonly generation: Generation }) {
  const { status, error_type: type, error_message: message, provider_responses: attempts } = generation;
  const { cause, advice } = causeOf(generation, attempts ?? []);
  return (
    <Notice tone="bad">
      <strong>
        {status}
        {type !== null && `, ${nameOfError(type)}`}. {cause}
      </strong>{' '}
      {advice}
      {message !== null && (
        <p className={styles.reason}>
          {attempts?.length ? 'The provider said' : 'The response said'}: <q dir="auto">{message}</q>
        </p>
      )}
    </Notice>
  );
}

const optional = (text: string | null, what: string) =>
  text === null ? <Absent key={what} /> : <Code key={what} text={text} what={what} />;

/** With the way to the other calls that have the id. */
const linked = (text: string | null, what: string, link: (text: string) => ReactNode) =>
  text === null ? (
    <Absent key={what} />
  ) : (
    <span key={what} className={styles.linked}>
      <Code text={text} what={what} /> {link(text)}
    </span>
  );

function rerankDetailsOf({ top_n: wanted, usage_source: origin }: Generation) {
  return [
    ['Operation', 'Rerank'],
    ['Results at most', wanted === null ? 'All documents' : formatCount(wanted)],
    ['Counts', origin === null ? <Absent key="origin" /> : capitalise(usageOrigin(origin))],
  ] as const;
}

function chatDetailsOf(generation: Generation) {
  const { finish_reason: reason, native_finish_reason: native, usage_source: origin } = generation;
  return [
    ['Operation', generation.streamed ? 'Chat, streamed' : 'Chat, in one piece'],
    ["Caller's API", generation.api_type === null ? <Absent key="api" /> : nameOfApi(generation.api_type)],
    ["Provider's API", providerApiOf(generation) ?? <Absent key="provider" />],
    ['Ended with', reason === null ? <Absent key="reason" /> : endInWords(reason, native)],
    ['Token counts', origin === null ? <Absent key="origin" /> : capitalise(usageOrigin(origin))],
    ['Service tier', generation.service_tier ?? <Absent key="tier" />],
  ] as const;
}

/** A deleted guardrail keeps its name in the record. */
function guardrailsOf(hits: NonNullable<Generation['guardrails']>) {
  return hits.map(({ id, name, filter, action, count }) => (
    <div key={`${id} ${action} ${filter}`}>
      <Link to="/guardrails/$id" params={{ id }}>
        <Name text={name} />
      </Link>
      {`: ${nameOfFilter(filter)} ${action === 'redact' ? 'replaced' : 'found'}, ${formatCount(count)} ×`}
    </div>
  ));
}

function detailsOf(generation: Generation) {
  return [
    [
      'Key',
      generation.api_key_hash === null ? (
        'Deleted'
      ) : (
        <Link key="key" to="/keys/$hash" params={{ hash: generation.api_key_hash }}>
          <KeyName hash={generation.api_key_hash} />
        </Link>
      ),
    ],
    ['Generation id', optional(generation.id, 'generation id')],
    ['Request id', optional(generation.request_id, 'request id')],
    ['Upstream id', optional(generation.upstream_id, 'upstream id')],
    [
      'Model',
      <Link key="model" to="/generations" search={{ model: generation.model }}>
        <ModelId id={generation.model} />
      </Link>,
    ],
    [
      'Session',
      linked(generation.session_id, 'session id', (session) => (
        <Link to="/generations" search={{ session }}>
          All calls
        </Link>
      )),
    ],
    [
      'User',
      linked(generation.external_user, 'user id', (user) => (
        <Link to="/generations" search={{ user }}>
          All calls
        </Link>
      )),
    ],
    ['Credential', generation.is_byok ? 'Own provider key' : 'Key of the service'],
    ['Region', generation.data_region],
    ...(generation.guardrails === null ? [] : [['Guardrails', guardrailsOf(generation.guardrails)] as const]),
    [
      'Client',
      generation.user_agent === null ? (
        <Absent key="client" />
      ) : (
        <Name key="client" text={generation.user_agent} />
      ),
    ],
  ] as const;
}
