// Attributes that are common to all OTLP platforms, by name. A name that the conventions change is changed in one line
// here; an older name that vendors still read has its own line. Source: docs/contract.md#deliveries.
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { generationHeaderId } from '../../domain/identifiers.js';
import { settingsOf } from '../shared/chat-forms.js';
import { outputSummary } from '../shared/trace-json.js';
import { decimal, flag, integer, text, texts } from './any-value.js';
import type { AnyValue, Attribute } from './any-value.js';
import type { ContentText } from './content-text.js';
import type { SpanContent } from './span-content.js';

/** Null: unknown, and omitted. */
export type AttributeTable = Readonly<
  Record<string, (trace: GenerationTrace, content: SpanContent) => AnyValue | null>
>;

// Receivers recognise these traces by this name, and their dashboards and filters use it.
const SERVICE_NAME = 'openrouter';
const SERVICE_VERSION = '1.0.0';

/** As JSON. */
export const SCOPE = JSON.stringify({ name: SERVICE_NAME, version: SERVICE_VERSION });

export function resourceAttributes({ traceId }: GenerationTrace): readonly Attribute[] {
  return [
    { key: 'service.name', value: { stringValue: SERVICE_NAME } },
    { key: 'service.version', value: { stringValue: SERVICE_VERSION } },
    { key: 'openrouter.trace.id', value: { stringValue: traceId } },
  ];
}

// Well-known names of the conventions. Other providers keep their own name.
const WELL_KNOWN_PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['azure', 'azure.ai.openai'],
  ['bedrock', 'aws.bedrock'],
  ['google', 'gcp.gemini'],
  ['vertex', 'gcp.vertex_ai'],
  ['mistral', 'mistral_ai'],
]);

export const providerName = (provider: string | null): string | null =>
  provider === null ? null : (WELL_KNOWN_PROVIDERS.get(provider) ?? provider);

/** The GenAI conventions for the embeddings span of a client, which rerank spans share. */
export const GEN_AI_ATTRIBUTES: AttributeTable = {
  'gen_ai.operation.name': ({ operation }) => text(operation),
  'gen_ai.provider.name': ({ provider }) => text(providerName(provider)),
  'gen_ai.request.model': ({ model }) => text(model),
  'gen_ai.request.encoding_formats': ({ encodingFormat }) =>
    encodingFormat === null ? null : texts([encodingFormat]),
  // The id that the caller received, which receivers use as the key of a generation.
  'gen_ai.response.id': ({ generationId }) => text(generationHeaderId(generationId)),
  'gen_ai.response.model': ({ upstreamModel }) => text(upstreamModel),
  'gen_ai.embeddings.dimension.count': ({ dimensions }) => integer(dimensions),
  'gen_ai.usage.input_tokens': ({ promptTokens }) => integer(promptTokens),
  'signalbox.search_units': ({ rerank }) => integer(rerank?.searchUnits ?? null),
  'error.type': ({ error }) => text(error?.type ?? null),
};

/** Names of earlier conventions and of vendors that receivers still read. */
export const OLDER_ATTRIBUTES: AttributeTable = {
  'gen_ai.system': ({ provider }) => text(providerName(provider)),
  'gen_ai.usage.prompt_tokens': ({ promptTokens }) => integer(promptTokens),
  'gen_ai.usage.total_tokens': ({ totalTokens }) => integer(totalTokens),
  'gen_ai.usage.input_cost': ({ cost }) => decimal(cost),
  'gen_ai.usage.total_cost': ({ cost }) => decimal(cost),
  'gen_ai.usage.cost': ({ cost }) => decimal(cost),
};

/** The owner and the context of the trace. */
export const TRACE_ATTRIBUTES: AttributeTable = {
  'user.id': ({ userId }) => text(userId),
  'session.id': ({ sessionId }) => text(sessionId),
  'trace.name': ({ traceName }) => text(traceName),
  'trace.tags': (trace) => texts(tagsOf(trace)),
  'span.type': () => text('generation'),
  'span.level': (trace) => text(levelOf(trace)),
};

// Characters. A longer text is sent under the first name only, because three copies would make a request too large.
const MAX_COPIED_LENGTH = 16_384;

export const copyOf = (content: ContentText | null): AnyValue | null =>
  content !== null && content.text.length <= MAX_COPIED_LENGTH ? textOf(content) : null;

const textOf = ({ text: stringValue, json }: ContentText): AnyValue => ({ stringValue, json });

export const textValue = (content: ContentText | null): AnyValue | null => content && textOf(content);

export const inputValue = (_trace: GenerationTrace, { input }: SpanContent): AnyValue | null =>
  textValue(input);

/** The content, under all the names that receivers read. */
export const CONTENT_ATTRIBUTES: AttributeTable = {
  'gen_ai.prompt': inputValue,
  'trace.input': (_trace, { input }) => copyOf(input),
  'span.input': (_trace, { input }) => copyOf(input),
  'span.output': (trace) => rerankOutput(trace),
};

/** The results of a rerank call; null for vectors, which are never sent. */
function rerankOutput(trace: GenerationTrace): AnyValue | null {
  const output = trace.rerank && outputSummary(trace);
  return output ? text(JSON.stringify(output)) : null;
}

/** Facts that this service adds to a generation. Each platform puts its own prefix before these names. */
export const OWN_METADATA: AttributeTable = {
  source: () => text(SERVICE_NAME),
  api_key_name: ({ apiKeyName }) => text(apiKeyName),
  workspace_id: ({ workspaceId }) => text(workspaceId),
  creator_user_id: ({ creatorUserId }) => text(creatorUserId),
  provider_name: ({ provider }) => text(provider),
  provider_slug: ({ provider }) => text(provider),
  upstream_id: ({ upstreamId }) => text(upstreamId),
  caller_trace_id: ({ callerTraceId }) => text(callerTraceId),
  status: ({ status }) => integer(status),
  duration_ms: ({ durationMs }) => integer(Math.round(durationMs)),
  is_byok: ({ isByok }) => flag(isByok),
  input_count: ({ inputCount, chat }) => (chat === null ? integer(inputCount) : null),
  input_type: ({ inputType }) => text(inputType),
  input_truncated: (_trace, { input }) => (input?.isTruncated ? flag(true) : null),
  output_truncated: (_trace, { output }) => (output?.isTruncated ? flag(true) : null),
  streamed: ({ chat }) => (chat === null ? null : flag(chat.isStreamed)),
  cancelled: ({ chat }) => (chat?.isCancelled ? flag(true) : null),
  native_finish_reason: ({ chat }) => text(chat?.nativeFinishReason ?? null),
  time_to_first_token_ms: ({ chat }) => integer(chat?.timeToFirstTokenMs ?? null),
  usage_source: ({ chat, rerank }) => text((chat ?? rerank)?.usageSource ?? null),
  search_units: ({ rerank }) => integer(rerank?.searchUnits ?? null),
  service_tier: ({ chat }) => text(chat?.serviceTier ?? null),
  // A single attempt adds nothing to the span.
  attempts: ({ attempts }) => (attempts.length > 1 ? text(JSON.stringify(attempts)) : null),
};

/** The level of a span in the receivers' words. */
export function levelOf({ error }: GenerationTrace): 'DEFAULT' | 'ERROR' {
  return error === null ? 'DEFAULT' : 'ERROR';
}

/** The parameters of the call as JSON. */
export function modelParameters({
  dimensions,
  encodingFormat,
  inputType,
  chat,
  rerank,
}: GenerationTrace): string {
  if (chat !== null) return JSON.stringify(settingsOf(chat));
  return JSON.stringify({
    top_n: rerank?.topN ?? undefined,
    encoding_format: encodingFormat ?? undefined,
    dimensions: dimensions ?? undefined,
    input_type: inputType ?? undefined,
  });
}

/** The caller's own key `tags` if it is a list of texts, else an empty list. */
export function tagsOf({ metadata }: GenerationTrace): readonly string[] {
  const { tags } = metadata;
  return Array.isArray(tags) && tags.every((tag) => typeof tag === 'string') ? tags : [];
}
