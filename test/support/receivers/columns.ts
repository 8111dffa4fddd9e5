// How each platform fills the columns of its own pages from a delivered payload, by its published rules. A column that a
// payload leaves blank is blank for the person who looks at the page.
import type { Operation } from '../../../src/domain/generations/generation.js';
import type { DeliveryRequest } from '../../../src/destination-kinds/shared/delivery.js';
import { validateTraceRequest } from './otlp-validator.js';
import type { ValidatedSpan } from './otlp-validator.js';

export const COLUMN_NAMES = [
  'type',
  'model',
  'provider',
  'tokens',
  'cost',
  'user',
  'session',
  'input',
  'output',
  'error',
] as const;
export type ColumnName = (typeof COLUMN_NAMES)[number];

type Json = Readonly<Record<string, unknown>>;

interface Column<Item> {
  /** Where a reader finds the value: a column or field of the platform, or an attribute. */
  readonly place: string;
  /** Whether the platform has a column of its own for it, or shows it among the attributes only. */
  readonly isOwn: boolean;
  readonly read: (item: Item) => unknown;
}

/** Null: the platform can show nothing of the kind. */
type Columns<Item> = Readonly<Record<ColumnName, Column<Item> | null>>;

interface PlatformColumns<Item> {
  readonly itemsOf: (requests: readonly Pick<DeliveryRequest, 'body'>[]) => readonly Item[];
  readonly columns: Columns<Item>;
  /** The columns that chats fill from other places. */
  readonly chat?: Partial<Columns<Item>>;
  /** As above, for rerank calls. */
  readonly rerank?: Partial<Columns<Item>>;
}

type Places = Readonly<Record<ColumnName, { readonly place: string; readonly isOwn: boolean } | null>>;

export interface Platform {
  /** Where a reader finds a column of an operation; null: nowhere. */
  readonly places: Readonly<Record<Operation, Places>>;
  /** The columns of each call in these requests, in the order of the calls. Undefined: blank. */
  readonly shown: (
    requests: readonly Pick<DeliveryRequest, 'body'>[],
    operation: Operation,
  ) => readonly ReadonlyMap<ColumnName, unknown>[];
}

const own = <Item>(place: string, read: (item: Item) => unknown): Column<Item> => ({
  place,
  isOwn: true,
  read,
});
const among = <Item>(place: string, read: (item: Item) => unknown): Column<Item> => ({
  place,
  isOwn: false,
  read,
});

const textOf = ({ body }: Pick<DeliveryRequest, 'body'>): string => body?.toString() ?? '';
const parsed = (value: unknown): Json => (typeof value === 'string' ? (JSON.parse(value) as Json) : {});
/** The member at a path such as `meta.input.value`. */
const member = (item: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, name) => (typeof value === 'object' && value !== null ? (value as Json)[name] : undefined),
      item,
    );
const errorOf = (error: unknown): unknown => member(error, 'message') ?? member(error, 'type');
const field = (path: string) => (item: unknown) => member(item, path) ?? undefined;
const items =
  (path: string) =>
  (requests: readonly Pick<DeliveryRequest, 'body'>[]): readonly Json[] =>
    requests.flatMap((request) => (member(JSON.parse(textOf(request)), path) ?? []) as Json[]);

const spansOf = (requests: readonly Pick<DeliveryRequest, 'body'>[]): readonly ValidatedSpan[] =>
  requests.flatMap((request) => validateTraceRequest(Buffer.from(textOf(request))));
const attribute =
  (...names: readonly string[]) =>
  ({ attributes }: ValidatedSpan): unknown =>
    names.map((name) => attributes.get(name)).find((value) => value !== undefined);
const exceptionOf = ({ events }: ValidatedSpan): unknown => {
  const exception = events.find(({ name }) => name === 'exception')?.attributes;
  return exception?.get('exception.message') ?? exception?.get('exception.type');
};
const statusMessage = ({ status }: ValidatedSpan): unknown =>
  status.code === 2 ? status.message : undefined;

/** A page that lists attributes by their names: it has no columns of its own. */
const attributesOnly = (
  overrides: Partial<Columns<ValidatedSpan>> = {},
  chat: Partial<Columns<ValidatedSpan>> = {},
): PlatformColumns<ValidatedSpan> => ({
  itemsOf: spansOf,
  columns: {
    type: among('gen_ai.operation.name', attribute('gen_ai.operation.name')),
    model: among('gen_ai.request.model', attribute('gen_ai.request.model')),
    provider: among('gen_ai.provider.name', attribute('gen_ai.provider.name')),
    tokens: among('gen_ai.usage.input_tokens', attribute('gen_ai.usage.input_tokens')),
    cost: among('gen_ai.usage.total_cost', attribute('gen_ai.usage.total_cost')),
    user: among('user.id', attribute('user.id')),
    session: among('session.id', attribute('session.id')),
    input: among('gen_ai.prompt', attribute('gen_ai.prompt')),
    output: null,
    error: own('Status', statusMessage),
    ...overrides,
  },
  chat: {
    input: among('gen_ai.input.messages', attribute('gen_ai.input.messages')),
    output: among('gen_ai.output.messages', attribute('gen_ai.output.messages')),
    tokens: among(
      '`gen_ai.usage.input_tokens`, `.output_tokens`',
      (span) =>
        Number(attribute('gen_ai.usage.input_tokens')(span)) +
        Number(attribute('gen_ai.usage.output_tokens')(span)),
    ),
    ...chat,
  },
});

// The translator takes tokens and cost only from runs that have outputs.
const langsmithUsage =
  (name: string) =>
  ({ attributes }: ValidatedSpan): unknown =>
    attributes.has('gen_ai.completion')
      ? parsed(attributes.get('langsmith.usage_metadata'))[name]
      : undefined;

const langsmith: PlatformColumns<ValidatedSpan> = {
  itemsOf: spansOf,
  columns: {
    type: own('Run type', attribute('langsmith.span.kind')),
    model: own('Model', attribute('langsmith.metadata.ls_model_name')),
    provider: own('Provider', attribute('langsmith.metadata.ls_provider')),
    tokens: own('Tokens', langsmithUsage('total_tokens')),
    cost: own('Cost', langsmithUsage('total_cost')),
    user: among('metadata `user_id`', attribute('langsmith.metadata.user_id')),
    session: own('Thread', attribute('langsmith.metadata.session_id')),
    input: own('Input', attribute('gen_ai.prompt')),
    output: own('Output', attribute('gen_ai.completion')),
    error: own('Error', exceptionOf),
  },
};

const langfuse: PlatformColumns<ValidatedSpan> = {
  itemsOf: spansOf,
  columns: {
    type: own('Type', attribute('langfuse.observation.type')),
    model: own('Model', attribute('langfuse.observation.model.name')),
    provider: among('metadata', attribute('langfuse.observation.metadata.openrouter.provider_name')),
    tokens: own('Usage', (span) => parsed(attribute('langfuse.observation.usage_details')(span))['total']),
    cost: own('Cost', (span) => parsed(attribute('langfuse.observation.cost_details')(span))['total']),
    user: own('User', attribute('langfuse.user.id')),
    session: own('Session', attribute('langfuse.session.id')),
    input: own('Input', attribute('langfuse.observation.input')),
    output: own('Output', attribute('langfuse.observation.output')),
    error: own('Status message', attribute('langfuse.observation.status_message')),
  },
};

const arize: PlatformColumns<ValidatedSpan> = {
  itemsOf: spansOf,
  columns: {
    type: own('Kind', attribute('openinference.span.kind')),
    model: own('Model', attribute('embedding.model_name')),
    provider: among('metadata `provider`', (span) => parsed(attribute('metadata')(span))['provider']),
    tokens: own('Tokens', attribute('llm.token_count.prompt')),
    cost: own('Cost', (span) => attribute('llm.cost.prompt')(span) && attribute('llm.cost.total')(span)),
    user: own('User', attribute('user.id')),
    session: own('Session', attribute('session.id')),
    input: own('Input', attribute('input.value')),
    output: own('Output', (span) => attribute('output.mime_type')(span) && attribute('output.value')(span)),
    error: own('Status', exceptionOf),
  },
  chat: {
    model: own('Model', attribute('llm.model_name')),
    provider: own('Provider', attribute('llm.provider')),
    tokens: own('Tokens', attribute('llm.token_count.total')),
    cost: own('Cost', attribute('llm.cost.total')),
  },
  rerank: {
    model: own('Model', attribute('reranker.model_name')),
    cost: among('llm.cost.total', attribute('llm.cost.total')),
  },
};

const sentry = attributesOnly(
  {
    type: own('Operation', attribute('sentry.op')),
    model: own('Model', attribute('gen_ai.request.model')),
    provider: own('Provider', attribute('gen_ai.provider.name')),
    tokens: own('Tokens', attribute('gen_ai.usage.input_tokens')),
    cost: own('Cost', attribute('gen_ai.cost.total_tokens')),
    user: own('User', attribute('user.id')),
    session: own('Conversation', attribute('gen_ai.conversation.id')),
    input: own('Input', attribute('gen_ai.embeddings.input')),
    // Events of spans are dropped.
    error: own('exception.message', attribute('exception.message', 'exception.type')),
  },
  {
    input: own('Input', attribute('gen_ai.input.messages')),
    output: own('Output', attribute('gen_ai.output.messages')),
    tokens: own('Tokens', attribute('gen_ai.usage.total_tokens')),
  },
);

const newrelic = attributesOnly({
  type: own('Operation', attribute('gen_ai.operation.name')),
  model: own('Model', attribute('gen_ai.request.model')),
  provider: own('Provider', attribute('gen_ai.provider.name')),
  tokens: own('Tokens', attribute('gen_ai.usage.input_tokens')),
});

const braintrust: PlatformColumns<Json> = {
  itemsOf: items('events'),
  columns: {
    type: own('Type', field('span_attributes.type')),
    model: own('Model', field('metadata.model')),
    provider: among('metadata `provider`', field('metadata.provider')),
    tokens: own('Tokens', field('metrics.tokens')),
    cost: own('Estimated cost', field('metrics.estimated_cost')),
    user: among('metadata `user_id`', field('metadata.user_id')),
    session: among('metadata `session_id`', field('metadata.session_id')),
    input: own('Input', field('input.inputs')),
    output: own('Output', field('output')),
    error: own('Error', field('error')),
  },
  chat: { input: own('Input', field('input')) },
};

const datadog: PlatformColumns<Json> = {
  itemsOf: items('data.attributes.spans'),
  columns: {
    type: own('Kind', field('meta.kind')),
    model: own('Model', field('meta.model_name')),
    provider: own('Provider', field('meta.model_provider')),
    tokens: own('Input tokens', field('metrics.input_tokens')),
    cost: own('Estimated cost', field('metrics.total_cost')),
    user: among('tag `user_id`', (span) =>
      (field('tags')(span) as string[]).find((tag) => tag.startsWith('user_id:'))?.slice('user_id:'.length),
    ),
    session: own('Session', field('session_id')),
    input: own('Input', field('meta.input.value')),
    output: own('Output', field('meta.output.value')),
    error: own('Error', field('meta.error.message')),
  },
  chat: {
    tokens: own('Total tokens', field('metrics.total_tokens')),
    input: own('Input messages', field('meta.input.messages')),
    output: own('Output messages', field('meta.output.messages')),
  },
};

const weaveUsage = (call: Json): readonly [string, Json] | undefined =>
  Object.entries((field('summary.usage')(call) ?? {}) as Record<string, Json>)[0];

const weave: PlatformColumns<Json> = {
  itemsOf: items('batch'),
  columns: {
    type: own('Kind', field('attributes.weave.kind')),
    model: own('Model', (call) => weaveUsage(call)?.[0]),
    provider: among('attribute `provider`', field('attributes.provider')),
    tokens: own('Tokens', (call) => weaveUsage(call)?.[1]['total_tokens']),
    // Computed from the tokens and the price that the platform has for this very name.
    cost: own("Cost, at Weave's price", (call) => weaveUsage(call)?.[0]),
    user: among('attribute `user_id`', field('attributes.user_id')),
    session: own('Thread', (call) => (call['turn_id'] === call['id'] ? call['thread_id'] : undefined)),
    input: own('Inputs', field('inputs.input')),
    output: own('Output', field('output')),
    error: own('Exception', field('exception')),
  },
  chat: { input: own('Chat', field('inputs.messages')), output: own('Chat', field('output.choices')) },
};

const posthog: PlatformColumns<Json> = {
  itemsOf: items('batch'),
  columns: {
    type: own('Event', field('event')),
    model: own('Model', field('properties.$ai_model')),
    provider: own('Provider', field('properties.$ai_provider')),
    tokens: own('Tokens', field('properties.$ai_input_tokens')),
    cost: own('Cost', field('properties.$ai_total_cost_usd')),
    user: own('Person', field('properties.user_id')),
    session: own('Session', field('properties.$ai_session_id')),
    input: own('Input', field('properties.$ai_input')),
    output: null,
    error: own('Error', field('properties.$ai_error')),
  },
  chat: {
    tokens: own('Tokens', (event) => {
      const { $ai_input_tokens: input, $ai_output_tokens: output } = event['properties'] as Record<
        string,
        number
      >;
      return (input ?? 0) + (output ?? 0);
    }),
    output: own('Output', field('properties.$ai_output_choices')),
  },
  rerank: {
    input: own('Input', field('properties.$ai_input_state')),
    output: own('Output', field('properties.$ai_output_state')),
  },
};

const opik: PlatformColumns<Json> = {
  itemsOf: (requests) => {
    const traces = new Map(items('traces')(requests).map((trace) => [trace['id'], trace]));
    return items('spans')(requests).map((span) =>
      Object.assign(span, { trace: traces.get(span['trace_id']) }),
    );
  },
  columns: {
    type: own('Type', field('type')),
    model: own('Model', field('model')),
    provider: own('Provider', field('provider')),
    tokens: own('Tokens', field('usage.total_tokens')),
    cost: own('Cost', field('total_estimated_cost')),
    user: among('metadata `user_id`', field('metadata.user_id')),
    session: own('Thread', field('trace.thread_id')),
    input: own('Input', field('trace.input')),
    output: own('Output', field('trace.output')),
    error: own('Error', field('error_info.message')),
  },
};

const s3: PlatformColumns<Json> = {
  itemsOf: (requests) =>
    requests.map((request) => {
      const document = JSON.parse(textOf(request)) as Json;
      return { ...document, observation: (document['observations'] as Json[])[0] };
    }),
  columns: {
    type: own('type', field('observation.type')),
    model: own('model', field('observation.model')),
    provider: own('provider', field('observation.provider')),
    tokens: own('usage.total', field('observation.usage.total')),
    cost: own('cost', field('observation.cost')),
    user: own('userId', field('userId')),
    session: own('sessionId', field('sessionId')),
    input: own('input', field('observation.input')),
    output: own('output', field('observation.output')),
    error: own('output.error', (item) => errorOf(field('observation.output.error')(item))),
  },
};

const table = (
  itemsOf: PlatformColumns<Json>['itemsOf'],
  json: (value: unknown) => unknown,
): PlatformColumns<Json> => ({
  itemsOf,
  columns: {
    type: own('SPAN_TYPE', field('SPAN_TYPE')),
    model: own('MODEL', field('MODEL')),
    provider: own('PROVIDER_NAME', field('PROVIDER_NAME')),
    tokens: own('TOTAL_TOKENS', field('TOTAL_TOKENS')),
    cost: own('TOTAL_COST', field('TOTAL_COST')),
    user: own('USER_ID', field('USER_ID')),
    session: own('SESSION_ID', field('SESSION_ID')),
    input: own('INPUT', field('INPUT')),
    output: own('OUTPUT', field('OUTPUT')),
    error: own('OUTPUT.error', (row) => errorOf(member(json(row['OUTPUT']), 'error'))),
  },
});

const clickhouse = table(
  (requests) =>
    requests.flatMap((request) =>
      textOf(request)
        .split('\n')
        .map((line) => JSON.parse(line) as Json),
    ),
  parsed,
);

const snowflake = table(
  (requests) =>
    requests.flatMap(
      (request) => JSON.parse(member(JSON.parse(textOf(request)), 'bindings.1.value') as string) as Json[],
    ),
  (value) => value,
);

const PLATFORMS: Readonly<Record<string, Platform>> = {
  arize: platform(arize),
  braintrust: platform(braintrust),
  clickhouse: platform(clickhouse),
  datadog: platform(datadog),
  grafana: platform(attributesOnly()),
  langfuse: platform(langfuse),
  langsmith: platform(langsmith),
  newrelic: platform(newrelic),
  opik: platform(opik),
  'otel-collector': platform(attributesOnly()),
  posthog: platform(posthog),
  ramp: platform(attributesOnly()),
  s3: platform(s3),
  sentry: platform({ ...sentry, rerank: { input: among('gen_ai.prompt', attribute('gen_ai.prompt')) } }),
  snowflake: platform(snowflake),
  weave: platform(weave),
  webhook: platform(attributesOnly()),
};

/** The platform of a kind, by its published rules. */
export function platformColumns(type: string): Platform {
  const found = PLATFORMS[type];
  if (!found) throw new Error(`no published rules for the columns of ${type}`);
  return found;
}

function platform<Item>({ itemsOf, columns, chat, rerank }: PlatformColumns<Item>): Platform {
  const places = {
    embeddings: columns,
    rerank: { ...columns, ...rerank },
    chat: { ...columns, ...chat },
  };
  return {
    places,
    shown: (requests, operation) =>
      itemsOf(requests).map(
        (item) => new Map(COLUMN_NAMES.map((name) => [name, places[operation][name]?.read(item)] as const)),
      ),
  };
}
