// PostHog: LLM events through its batch API.
import { firstTokenSeconds, isChat, numberSetting, settingsOf, shownAnswersOf } from './shared/chat-forms.js';
import type { ChatTrace } from './shared/chat-forms.js';
import { TextField } from './shared/config-fields.js';
import { normaliseAddress, outcomeOfStatus, problemUnless } from './shared/delivery-outcome.js';
import type { KindDelivery } from './shared/delivery.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { ParentSpansField, parentOf } from './shared/parent-spans.js';
import type { ParentSpans } from './shared/parent-spans.js';
import {
  errorText,
  inputTexts,
  jsonWithin,
  outputSummary,
  postJson,
  traceProperties,
  uuidOfTrace,
} from './shared/trace-json.js';
import { boundedText } from '../domain/text/bounded-text.js';
import type { GenerationTrace } from '../domain/generations/generation-trace.js';

export class PosthogConfig extends BaseDestinationConfig {
  @TextField({ description: 'Project API key.', secret: 'masked' })
  apiKey: string;

  @TextField({
    description: 'Ingestion address of the region.',
    address: 'public',
    allowEmpty: true,
    default: 'https://us.i.posthog.com',
  })
  endpoint = 'https://us.i.posthog.com';

  @ParentSpansField('link')
  parentSpans: ParentSpans = 'link';
}

const MAX_EVENT_BYTES = 1_000_000;
const MAX_DEPTH = 3;
// A longer one is cut or dropped by the platform. The property `user_id` has the whole one.
const MAX_DISTINCT_ID_LENGTH = 200;
const CUT = '[truncated]';

function event(config: PosthogConfig, trace: GenerationTrace): object {
  const { userId } = trace;
  return {
    // The platform has no event for rerank.
    event: isChat(trace) ? '$ai_generation' : trace.rerank ? '$ai_span' : '$ai_embedding',
    // The platform merges events of one uuid.
    uuid: uuidOfTrace(trace),
    timestamp: trace.startedAt,
    // The platform silently drops an event without this member. Without a user the event belongs to its trace, and
    // creates no person.
    distinct_id: userId?.trim() ? boundedText(userId, MAX_DISTINCT_ID_LENGTH) : trace.traceId,
    properties: Object.assign(traceProperties(trace), callerProperties(trace.metadata), {
      $process_person_profile: userId?.trim() ? undefined : false,
      $ai_trace_id: trace.traceId,
      $ai_session_id: trace.sessionId ?? undefined,
      $ai_span_id: trace.spanId,
      $ai_parent_id: parentOf(config, trace) ?? undefined,
      $ai_span_name: trace.spanName,
      $ai_model: trace.model,
      $ai_provider: trace.provider ?? undefined,
      $ai_input_tokens: trace.promptTokens,
      // Seconds.
      $ai_latency: trace.durationMs / 1000,
      $ai_http_status: trace.status,
      $ai_is_error: trace.error !== null,
      $ai_error: errorText(trace),
      $ai_total_cost_usd: trace.cost ?? undefined,
      ...(isChat(trace)
        ? chatProperties(trace)
        : trace.rerank
          ? rerankProperties(trace)
          : embeddingProperties(trace)),
    }),
  };
}

function embeddingProperties({ input, cost }: GenerationTrace): object {
  const texts = input && inputTexts(input);
  return {
    $ai_input: texts?.length === 1 ? texts[0] : (texts ?? undefined),
    $ai_input_cost_usd: cost ?? undefined,
    // The platform would derive an absent one.
    $ai_output_cost_usd: cost === null ? undefined : 0,
  };
}

function rerankProperties(trace: GenerationTrace): object {
  return {
    $ai_input_state: trace.input ? inputTexts(trace.input) : undefined,
    $ai_output_state: outputSummary(trace),
  };
}

function chatProperties({ chat, cost }: ChatTrace): object {
  const { content } = chat;
  return {
    $ai_input: content?.messages,
    $ai_output_choices: content ? shownAnswersOf(content) : undefined,
    $ai_tools: content && content.tools.length > 0 ? content.tools : undefined,
    $ai_output_tokens: chat.completionTokens,
    $ai_cache_read_input_tokens: chat.cachedTokens,
    $ai_cache_creation_input_tokens: chat.cacheWriteTokens,
    // Without it the platform guesses by the model's name whether the input tokens include those of the cache.
    $ai_cache_reporting_exclusive: false,
    $ai_reasoning_tokens: chat.reasoningTokens,
    $ai_input_cost_usd: cost === null ? undefined : (chat.promptCost ?? undefined),
    $ai_output_cost_usd: cost === null ? undefined : (chat.completionCost ?? undefined),
    // Seconds.
    $ai_time_to_first_token: firstTokenSeconds(chat) ?? undefined,
    $ai_stream: chat.isStreamed,
    $ai_stop_reason: chat.finishReason ?? undefined,
    $ai_temperature: numberSetting(chat, 'temperature') ?? undefined,
    $ai_max_tokens: numberSetting(chat, 'max_tokens') ?? undefined,
    $ai_model_parameters: settingsOf(chat),
  };
}

/** The caller's own keys, separated from other properties by a prefix. */
const callerProperties = (metadata: GenerationTrace['metadata']): object =>
  Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => [`metadata_${key}`, shallow(value, MAX_DEPTH)]),
  );

/** A value with at most `levels` levels of objects and lists. */
function shallow(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return CUT;
  if (Array.isArray(value)) return value.map((item) => shallow(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shallow(item, levels - 1)]));
}

const delivery: KindDelivery<PosthogConfig> = {
  limits: { maxTraces: 1_000, maxBytes: 20_000_000, linger: 1_000, timeout: 30_000 },
  addresses: ({ endpoint }) => [normaliseAddress(endpoint)],
  encode: (config, traces) => {
    const events = traces
      .map((trace) => jsonWithin(MAX_EVENT_BYTES, trace, (item) => event(config, item)))
      .join();
    const body = `{"api_key":${JSON.stringify(config.apiKey)},"batch":[${events}]}`;
    return [postJson(`${normaliseAddress(config.endpoint)}/batch/`, {}, body)];
  },
  read: (response, _request, _config, context) => outcomeOfStatus(response, context),
  probe: (config) => [
    {
      // The batch endpoint answers 200 to any key; this endpoint verifies it.
      request: postJson(
        `${normaliseAddress(config.endpoint)}/flags/?v=2`,
        {},
        { api_key: config.apiKey, distinct_id: 'connection-test' },
      ),
      problem: problemUnless((status) => status === 200),
    },
  ],
};

export const posthog: DestinationKind<PosthogConfig> = {
  type: 'posthog',
  neutralType: 'kind_10',
  platform: 'PostHog',
  configClass: PosthogConfig,
  delivery,
  example: { apiKey: 'phc_0123456789abcdef' },
};
