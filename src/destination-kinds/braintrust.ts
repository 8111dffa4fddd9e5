// Braintrust: rows of a project log.
import { choicesOf, firstTokenSeconds, isChat, settingsOf } from './shared/chat-forms.js';
import type { ChatTrace } from './shared/chat-forms.js';
import { TextField } from './shared/config-fields.js';
import { normaliseAddress, outcomeOfStatus, problemUnless } from './shared/delivery-outcome.js';
import type { KindDelivery } from './shared/delivery.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { ParentSpansField, parentOf } from './shared/parent-spans.js';
import type { ParentSpans } from './shared/parent-spans.js';
import { tagsOf } from './otlp/attributes.js';
import {
  bareModelName,
  errorText,
  inputTexts,
  outputSummary,
  postJson,
  traceMetadata,
  uuidOfTrace,
} from './shared/trace-json.js';
import type { GenerationTrace } from '../domain/generations/generation-trace.js';

export class BraintrustConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = ['content-type', 'authorization'];

  @TextField({ description: 'API key of the platform.', secret: 'masked', header: 'as it is' })
  apiKey: string;

  @TextField({ description: 'Id of the project.' })
  projectId: string;

  @TextField({
    description: 'Address of the API; the European API has another one.',
    address: 'public',
    allowEmpty: true,
    default: 'https://api.braintrust.dev',
  })
  baseUrl = 'https://api.braintrust.dev';

  @ParentSpansField('root')
  parentSpans: ParentSpans = 'root';
}

const authorization = ({ apiKey }: BraintrustConfig): Record<string, string> => ({
  authorization: `Bearer ${apiKey}`,
});

/** One row. Input, output and metrics have the form of Braintrust's instrumentation of embeddings. */
function row(config: BraintrustConfig, trace: GenerationTrace): object {
  const parent = parentOf(config, trace);
  return {
    id: uuidOfTrace(trace),
    span_id: trace.spanId,
    root_span_id: trace.traceId,
    span_parents: parent === null ? null : [parent],
    created: trace.startedAt,
    ...(isChat(trace) ? chatContent(trace) : embeddingContent(trace)),
    error: errorText(trace),
    // Prices are filed under the bare name.
    metadata: Object.assign(traceMetadata(trace), {
      ...(isChat(trace) ? chatMetadata(trace) : {}),
      model: bareModelName(trace),
      openrouter_model: trace.model,
    }),
    tags: [...new Set(tagsOf(trace))],
    // The platform has no type for rerank.
    span_attributes: { name: trace.spanName, type: trace.rerank ? 'task' : 'llm' },
    metrics: {
      start: trace.startedAt.getTime() / 1000,
      end: trace.endedAt.getTime() / 1000,
      prompt_tokens: trace.promptTokens,
      completion_tokens: trace.chat?.completionTokens ?? 0,
      tokens: trace.totalTokens,
      estimated_cost: trace.cost ?? undefined,
      ...(isChat(trace) ? chatMetrics(trace) : {}),
    },
  };
}

function embeddingContent(trace: GenerationTrace): object {
  const { input, error, inputCount, rerank } = trace;
  return {
    input: input && { inputs: inputTexts(input).map((content) => ({ content })) },
    output: rerank ? (outputSummary(trace) ?? null) : { count: error === null ? inputCount : 0 },
  };
}

function chatContent({ chat: { content } }: ChatTrace): object {
  return { input: content && content.messages, output: content && choicesOf(content) };
}

/** The settings beside the model, where the platform's playground looks for them. */
function chatMetadata({ chat }: ChatTrace): object {
  const { content } = chat;
  return {
    ...settingsOf(chat),
    ...(content && content.tools.length > 0 ? { tools: content.tools } : {}),
  };
}

function chatMetrics({ chat }: ChatTrace): object {
  return {
    prompt_cached_tokens: chat.cachedTokens,
    prompt_cache_creation_tokens: chat.cacheWriteTokens,
    completion_reasoning_tokens: chat.reasoningTokens,
    time_to_first_token: firstTokenSeconds(chat) ?? undefined,
  };
}

const delivery: KindDelivery<BraintrustConfig> = {
  // The documented limit is 10 MB. Braintrust's own clients stay below 6 MiB, because its gateway rejects more.
  limits: { maxTraces: 1_000, maxBytes: 6_000_000, linger: 1_000, timeout: 30_000 },
  addresses: ({ baseUrl }) => [normaliseAddress(baseUrl)],
  encode: (config, traces) => {
    const project = encodeURIComponent(config.projectId);
    const url = `${normaliseAddress(config.baseUrl)}/v1/project_logs/${project}/insert`;
    return [postJson(url, authorization(config), { events: traces.map((trace) => row(config, trace)) })];
  },
  read: (response, _request, _config, context) => outcomeOfStatus(response, context),
  probe: (config) => [
    {
      request: {
        method: 'GET',
        url: `${normaliseAddress(config.baseUrl)}/v1/project/${encodeURIComponent(config.projectId)}`,
        headers: authorization(config),
      },
      problem: problemUnless((status) => status === 200),
    },
  ],
};

export const braintrust: DestinationKind<BraintrustConfig> = {
  type: 'braintrust',
  neutralType: 'kind_02',
  platform: 'Braintrust',
  configClass: BraintrustConfig,
  delivery,
  example: { apiKey: 'sk-bt-0123456789abcdef', projectId: '6f9619ff-8b86-d011-b42d-00cf4fc964ff' },
};
