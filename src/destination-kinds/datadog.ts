// Datadog LLM Observability: spans through its API.
import {
  firstTokenSeconds,
  isChat,
  numberSetting,
  remainder,
  shownAnswersOf,
  uncachedTokens,
} from './shared/chat-forms.js';
import type { ChatTrace } from './shared/chat-forms.js';
import { TextField } from './shared/config-fields.js';
import {
  answerMembers,
  describeAnswer,
  normaliseAddress,
  outcomeOfStatus,
} from './shared/delivery-outcome.js';
import type { DeliveryResponse, KindDelivery } from './shared/delivery.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { ParentSpansField, parentOf } from './shared/parent-spans.js';
import type { ParentSpans } from './shared/parent-spans.js';
import { tagsOf } from './otlp/attributes.js';
import { datadogMessages, toolDefinitions } from './shared/datadog-messages.js';
import {
  bareModelName,
  errorText,
  jsonWithin,
  outputSummary,
  postJson,
  traceMetadata,
} from './shared/trace-json.js';
import type { GenerationTrace, TracedChat, TracedContent } from '../domain/generations/generation-trace.js';

export class DatadogConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = ['content-type', 'dd-api-key'];

  @TextField({
    description: 'API key with the LLM Observability permission.',
    secret: 'masked',
    header: 'as it is',
  })
  apiKey: string;

  @TextField({ description: 'Application name shown in the platform.' })
  mlApp: string;

  @TextField({
    description: 'API address of the site.',
    address: 'public',
    allowEmpty: true,
    default: 'https://api.datadoghq.com',
  })
  url = 'https://api.datadoghq.com';

  @ParentSpansField('link')
  parentSpans: ParentSpans = 'link';
}

const DAY = 86_400_000;
const MAX_SPAN_BYTES = 1_000_000;
const MAX_NAME_LENGTH = 193;
const NANOSECONDS = 1_000_000;

/** Maps a name to the characters and length that the platform allows. */
function applicationName(mlApp: string): string {
  const allowed = mlApp
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\-:./]+/gu, '_')
    .replace(/_+/g, '_');
  return Array.from(allowed).slice(0, MAX_NAME_LENGTH).join('').replace(/_$/, '') || 'unnamed';
}

// The platform prices models of these providers only, under these names.
const PROVIDERS: ReadonlyMap<string, string> = new Map([['azure', 'azure_openai']]);

function span(config: DatadogConfig, trace: GenerationTrace): object {
  const { error, userId, provider } = trace;
  const modelProvider = provider === null ? undefined : (PROVIDERS.get(provider) ?? provider);
  return {
    name: trace.spanName,
    span_id: trace.spanId,
    trace_id: trace.traceId,
    // The platform recognises a root span by this word.
    parent_id: parentOf(config, trace) ?? 'undefined',
    // Above 2^53, yet exact: the shortest decimal text of this double has the digits of the millisecond.
    start_ns: trace.startedAt.getTime() * NANOSECONDS,
    duration: Math.round(trace.durationMs * NANOSECONDS),
    status: error === null ? 'ok' : 'error',
    session_id: trace.sessionId ?? undefined,
    tags: [...(userId === null ? [] : [`user_id:${userId}`]), ...tagsOf(trace)],
    meta: {
      ...(isChat(trace) ? chatMeta(trace, modelProvider) : embeddingMeta(trace)),
      model_provider: modelProvider,
      error: error === null ? undefined : { type: error.type, message: errorText(trace) },
    },
    metrics: isChat(trace) ? chatMetrics(trace) : embeddingMetrics(trace),
  };
}

function embeddingMeta(trace: GenerationTrace): object {
  const { error, input } = trace;
  return {
    kind: trace.rerank ? 'retrieval' : 'embedding',
    model_name: trace.model,
    input: input ? { value: inputText(input) } : undefined,
    output: error === null ? { value: outputInWords(trace) } : undefined,
    metadata: scalars(trace),
  };
}

function embeddingMetrics({ promptTokens, totalTokens, cost }: GenerationTrace): object {
  return {
    input_tokens: promptTokens,
    total_tokens: totalTokens,
    // US dollars.
    ...(cost === null ? {} : { input_cost: cost, output_cost: 0, total_cost: cost }),
  };
}

function chatMeta(trace: ChatTrace, modelProvider: string | undefined): object {
  const { chat } = trace;
  const { content } = chat;
  const model = bareModelName(trace);
  return {
    kind: 'llm',
    model_name: model,
    input: content ? { messages: datadogMessages(content.messages) } : undefined,
    output: content ? { messages: datadogMessages(shownAnswersOf(content)) } : undefined,
    tool_definitions: content && content.tools.length > 0 ? toolDefinitions(content.tools) : undefined,
    // The platform also looks for both names here.
    metadata: Object.assign(scalars(trace), {
      model_name: model,
      model_provider: modelProvider,
      temperature: numberSetting(chat, 'temperature') ?? undefined,
      max_tokens: numberSetting(chat, 'max_tokens') ?? undefined,
    }),
  };
}

/** Tokens of the cache are parts of the input, those of reasoning of the output. Amounts are US dollars. */
function chatMetrics(trace: ChatTrace): object {
  const { chat, cost } = trace;
  return {
    input_tokens: trace.promptTokens,
    output_tokens: chat.completionTokens,
    total_tokens: trace.totalTokens,
    cache_read_input_tokens: chat.cachedTokens,
    cache_write_input_tokens: chat.cacheWriteTokens,
    non_cached_input_tokens: uncachedTokens(trace),
    reasoning_output_tokens: chat.reasoningTokens,
    time_to_first_token: firstTokenSeconds(chat) ?? undefined,
    ...(cost === null ? {} : { ...costParts(chat), total_cost: cost }),
  };
}

function costParts(chat: TracedChat): object {
  const { promptCost, completionCost, cachedCost, cacheWriteCost, reasoningCost } = chat;
  return {
    input_cost: promptCost ?? undefined,
    output_cost: completionCost ?? undefined,
    non_cached_input_cost:
      promptCost === null ? undefined : remainder(promptCost, [cachedCost, cacheWriteCost]),
    cache_read_input_cost: cachedCost ?? undefined,
    cache_write_input_cost: cacheWriteCost ?? undefined,
    reasoning_output_cost: reasoningCost ?? undefined,
  };
}

function inputText({ items }: TracedContent): string {
  const [only, ...others] = items;
  return typeof only === 'string' && others.length === 0 ? only : JSON.stringify(items);
}

function outputInWords(trace: GenerationTrace): string {
  const { inputCount, dimensions, rerank } = trace;
  if (rerank) return JSON.stringify(outputSummary(trace));
  const count = inputCount === 1 ? '1 embedding' : `${inputCount} embeddings`;
  return dimensions === null ? count : `${count} of ${dimensions} dimensions`;
}

/** Flattens metadata to numbers, flags and texts, the only types that the platform accepts. */
function scalars(trace: GenerationTrace): object {
  const metadata = traceMetadata(trace);
  for (const [name, value] of Object.entries(metadata)) {
    if (typeof value === 'object') metadata[name] = value === null ? undefined : JSON.stringify(value);
  }
  metadata['openrouter_generation'] = undefined;
  for (const [name, value] of Object.entries(trace.facts)) metadata[`openrouter_generation.${name}`] = value;
  return metadata;
}

function keyProblem(response: DeliveryResponse): string | null {
  const isValid = response.status === 200 && answerMembers(response)['valid'] === true;
  return isValid ? null : describeAnswer(response);
}

const delivery: KindDelivery<DatadogConfig> = {
  limits: { maxTraces: 1_000, maxBytes: 5_000_000, linger: 1_000, timeout: 30_000, maxAge: DAY },
  addresses: ({ url }) => [normaliseAddress(url)],
  encode: (config, traces) => {
    const name = applicationName(config.mlApp);
    const head = JSON.stringify({ ml_app: name, tags: [`service:${name}`] }).slice(0, -1);
    const spans = traces
      .map((trace) => jsonWithin(MAX_SPAN_BYTES, trace, (item) => span(config, item)))
      .join();
    return [
      postJson(
        `${normaliseAddress(config.url)}/api/intake/llm-obs/v1/trace/spans`,
        { 'dd-api-key': config.apiKey },
        `{"data":{"type":"span","attributes":${head},"spans":[${spans}]}}}`,
      ),
    ];
  },
  // Only 202 is a success of this platform.
  read: (response, _request, _config, context) =>
    outcomeOfStatus(response, context, { delivered: (status) => status === 202 }),
  probe: (config) => [
    {
      request: {
        method: 'GET',
        url: `${normaliseAddress(config.url)}/api/v1/validate`,
        headers: { 'dd-api-key': config.apiKey },
      },
      problem: keyProblem,
    },
  ],
};

export const datadog: DestinationKind<DatadogConfig> = {
  type: 'datadog',
  neutralType: 'kind_04',
  platform: 'Datadog',
  configClass: DatadogConfig,
  delivery,
  example: { apiKey: '0123456789abcdef0123456789abcdef', mlApp: 'my-app' },
};
