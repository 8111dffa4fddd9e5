// Langfuse: OTLP traces with langfuse attributes.
import type { GenerationTrace } from '../domain/generations/generation-trace.js';
import { TextField } from './shared/config-fields.js';
import { firstTokenAt, isChat, uncachedTokens } from './shared/chat-forms.js';
import type { ChatTrace } from './shared/chat-forms.js';
import { basicAuthorization, isSuccess } from './shared/delivery-outcome.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { ParentSpansField } from './shared/parent-spans.js';
import type { ParentSpans } from './shared/parent-spans.js';
import { tracesAddress } from './otlp/address.js';
import { flag, jsonText, text, texts } from './otlp/any-value.js';
import {
  GEN_AI_ATTRIBUTES,
  inputValue,
  levelOf,
  modelParameters,
  tagsOf,
  textValue,
} from './otlp/attributes.js';
import type { AttributeTable } from './otlp/attributes.js';
import { CHAT_ATTRIBUTES, ofChat } from './otlp/chat-attributes.js';
import { OTLP_LIMITS } from './otlp/limits.js';
import { otlpDelivery } from './otlp/otlp-delivery.js';
import type { SpanForm } from './otlp/span.js';
import { bareModelName, errorText, outputSummary } from './shared/trace-json.js';

export class LangfuseConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = ['content-type', 'authorization', 'x-langfuse-ingestion-version'];

  @TextField({ description: 'Secret key of the project.', secret: 'masked' })
  secretKey: string;

  @TextField({ description: 'Public key of the project.', secret: 'masked' })
  publicKey: string;

  @TextField({
    description: 'Address of the region or of a self-hosted server.',
    address: 'public',
    allowEmpty: true,
    default: 'https://us.cloud.langfuse.com',
  })
  baseUrl = 'https://us.cloud.langfuse.com';

  @ParentSpansField('root')
  parentSpans: ParentSpans = 'root';
}

// This version shows traces immediately. The server refuses numbers that it does not know.
const INGESTION_VERSION = '4';

// The names that an environment may have on the platform.
const ENVIRONMENT = /^(?!langfuse)[a-z0-9_-]{1,40}$/;

/** The platform's own names take precedence over the common ones and fill their columns. */
const COMMON: AttributeTable = {
  // The platform's prices are filed under the bare name; `gen_ai.request.model` has the whole one.
  'langfuse.observation.model.name': (trace) => text(bareModelName(trace)),
  'langfuse.observation.model.parameters': (trace) => text(modelParameters(trace)),
  'langfuse.observation.input': inputValue,
  'langfuse.observation.level': (trace) => text(levelOf(trace)),
  'langfuse.observation.status_message': (trace) => text(errorText(trace) ?? null),
  // Tables of this ingestion version do not fall back to the name of the span.
  'langfuse.trace.name': ({ traceName, spanName }) => text(traceName ?? spanName),
  'langfuse.trace.tags': (trace) => texts(tagsOf(trace)),
  'langfuse.user.id': ({ userId }) => text(userId),
  'langfuse.session.id': ({ sessionId }) => text(sessionId),
  'langfuse.environment': (trace) => text(ownKey(trace, 'environment', ENVIRONMENT)),
  'langfuse.release': (trace) => text(ownKey(trace, 'release', /^/)),
};

const SPAN: SpanForm = {
  attributes: {
    ...GEN_AI_ATTRIBUTES,
    ...COMMON,
    // The platform has no type for rerank.
    'langfuse.observation.type': ({ rerank }) => text(rerank ? 'span' : 'embedding'),
    'langfuse.observation.output': (trace) => jsonText(outputSummary(trace)),
    'langfuse.observation.usage_details': ({ promptTokens, totalTokens }) =>
      jsonText({ input: promptTokens, total: totalTokens }),
    'langfuse.observation.cost_details': ({ cost }) =>
      jsonText(cost === null ? null : { input: cost, total: cost }),
  },
  metadata: { caller: 'langfuse.trace.metadata.', own: 'langfuse.observation.metadata.' },
  hasEvents: true,
  // A trace shows the input and the output of its root.
  root: { attributes: { 'langfuse.internal.is_app_root': () => flag(true) } },
};

const CHAT_SPAN: SpanForm = {
  ...SPAN,
  attributes: {
    ...CHAT_ATTRIBUTES,
    ...COMMON,
    'langfuse.observation.type': () => text('generation'),
    'langfuse.observation.output': (_trace, { output }) => textValue(output),
    'langfuse.observation.usage_details': (trace) => jsonText(isChat(trace) ? buckets(trace) : null),
    'langfuse.observation.cost_details': ({ cost, chat }) =>
      jsonText(
        cost === null
          ? null
          : { input: chat?.promptCost ?? undefined, output: chat?.completionCost ?? undefined, total: cost },
      ),
    'langfuse.observation.completion_start_time': (trace) =>
      text((isChat(trace) && firstTokenAt(trace)?.toISOString()) || null),
    'langfuse.observation.metadata.finish_reason': ofChat((chat) => text(chat.finishReason)),
  },
};

/** The platform adds the buckets: each token is in one of them. */
function buckets(trace: ChatTrace): object {
  const { chat, totalTokens } = trace;
  return {
    input: uncachedTokens(trace),
    input_cached_tokens: chat.cachedTokens,
    input_cache_creation: chat.cacheWriteTokens,
    output: Math.max(0, chat.completionTokens - chat.reasoningTokens),
    output_reasoning_tokens: chat.reasoningTokens,
    total: totalTokens,
  };
}

/** Returns a caller's key for which the platform has a field, if the value fits the field. */
function ownKey({ metadata }: GenerationTrace, key: string, form: RegExp): string | null {
  const value = metadata[key];
  return typeof value === 'string' && form.test(value) ? value : null;
}

export const langfuse: DestinationKind<LangfuseConfig> = {
  type: 'langfuse',
  neutralType: 'kind_06',
  platform: 'Langfuse',
  configClass: LangfuseConfig,
  delivery: otlpDelivery({
    limits: { ...OTLP_LIMITS, maxBytes: 5_000_000 },
    spans: { embeddings: SPAN, chat: CHAT_SPAN },
    url: ({ baseUrl }) => tracesAddress(baseUrl, '/api/public/otel'),
    headers: ({ publicKey, secretKey }) => ({
      authorization: basicAuthorization(publicKey, secretKey),
      'x-langfuse-ingestion-version': INGESTION_VERSION,
    }),
    // The platform checks the keys first and accepts an empty request.
    test: { passes: isSuccess },
  }),
  example: { secretKey: 'sk-lf-0123456789abcdef', publicKey: 'pk-lf-0123456789abcdef' },
};
