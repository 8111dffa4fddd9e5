// Arize AX: OTLP traces with OpenInference attributes.
import { TextField } from './shared/config-fields.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { ParentSpansField } from './shared/parent-spans.js';
import type { ParentSpans } from './shared/parent-spans.js';
import { tracesAddress } from './otlp/address.js';
import { decimal, integer, jsonText, text, texts } from './otlp/any-value.js';
import type { Attribute } from './otlp/any-value.js';
import { inputValue, modelParameters, tagsOf, textValue } from './otlp/attributes.js';
import type { AttributeTable } from './otlp/attributes.js';
import { ofChat } from './otlp/chat-attributes.js';
import { flattenedChat } from './otlp/openinference-messages.js';
import { OTLP_LIMITS } from './otlp/limits.js';
import { otlpDelivery } from './otlp/otlp-delivery.js';
import type { SpanForm } from './otlp/span.js';
import { outputSummary, traceMetadata } from './shared/trace-json.js';

export class ArizeConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = [
    'content-type',
    'arize-api-key',
    'arize-space-id',
    'api_key',
    'space_id',
  ];

  @TextField({ description: 'API key of the platform.', secret: 'masked', header: 'as it is' })
  apiKey: string;

  @TextField({ description: 'Key of the space.', secret: 'masked', header: 'as it is' })
  spaceKey: string;

  @TextField({ description: 'Name of the tracing project.' })
  modelId: string;

  @TextField({
    description: 'Address of the OTLP endpoint; other regions have their own.',
    address: 'public',
    allowEmpty: true,
    default: 'https://otlp.arize.com',
  })
  baseUrl = 'https://otlp.arize.com';

  @ParentSpansField('link')
  parentSpans: ParentSpans = 'link';
}

// `input.value` has all texts. The first ones are listed as well, to be inspected one by one.
const MAX_LISTED_TEXTS = 64;

const COMMON: AttributeTable = {
  'input.value': inputValue,
  'input.mime_type': (_trace, { input }) => text(input && 'application/json'),
  'llm.token_count.prompt': ({ promptTokens }) => integer(promptTokens),
  'llm.token_count.total': ({ totalTokens }) => integer(totalTokens),
  'llm.cost.total': ({ cost }) => decimal(cost),
  'user.id': ({ userId }) => text(userId),
  'session.id': ({ sessionId }) => text(sessionId),
  'tag.tags': (trace) => texts(tagsOf(trace)),
  // Prices of the user's own are looked up by `model_name`.
  metadata: (trace) => jsonText(Object.assign(traceMetadata(trace), { model_name: trace.model })),
};

// OpenInference names of an embeddings span. It sets neither `llm.system` nor `llm.provider`.
const SPAN: SpanForm = {
  // The name of the convention, unless the caller chose one.
  name: ({ spanName, operation, model }) =>
    spanName === `${operation} ${model}` ? 'CreateEmbeddings' : spanName,
  attributes: {
    ...COMMON,
    'openinference.span.kind': () => text('EMBEDDING'),
    'embedding.model_name': ({ model }) => text(model),
    'embedding.invocation_parameters': (trace) => text(modelParameters(trace)),
    'output.value': (trace) => jsonText(outputSummary(trace)),
    'output.mime_type': ({ error }) => text(error === null ? 'application/json' : null),
    'llm.cost.prompt': ({ cost }) => decimal(cost),
  },
  listed: ({ input }) => (input?.items.slice(0, MAX_LISTED_TEXTS) ?? []).flatMap(textAttribute),
  hasEvents: true,
};

/** The text of one input; token ids have none. */
function textAttribute(item: string | readonly number[], index: number): Attribute[] {
  if (typeof item !== 'string') return [];
  return [{ key: `embedding.embeddings.${index}.embedding.text`, value: { stringValue: item } }];
}

const RERANK_SPAN: SpanForm = {
  attributes: {
    ...COMMON,
    'openinference.span.kind': () => text('RERANKER'),
    'reranker.model_name': ({ model }) => text(model),
    'reranker.top_k': ({ rerank }) => integer(rerank?.topN ?? null),
    'output.value': (trace) => jsonText(outputSummary(trace)),
    'output.mime_type': ({ error }) => text(error === null ? 'application/json' : null),
  },
  listed: ({ input, rerank }) => {
    const [query, ...documents] = input?.items ?? [];
    const results = rerank?.content?.results ?? [];
    return [
      ...(typeof query === 'string' ? [{ key: 'reranker.query', value: { stringValue: query } }] : []),
      ...documents
        .slice(0, MAX_LISTED_TEXTS)
        .flatMap((item, index) =>
          typeof item === 'string' ? documentAttributes('input', index, { id: index, content: item }) : [],
        ),
      ...results
        .slice(0, MAX_LISTED_TEXTS)
        .flatMap(({ index: id, score }, index) => documentAttributes('output', index, { id, score })),
    ];
  },
  hasEvents: true,
};

function documentAttributes(
  side: 'input' | 'output',
  index: number,
  { id, content, score }: { readonly id: number; readonly content?: string; readonly score?: number },
): Attribute[] {
  const key = (name: string): string => `reranker.${side}_documents.${index}.document.${name}`;
  return [
    { key: key('id'), value: { stringValue: String(id) } },
    ...(content === undefined ? [] : [{ key: key('content'), value: { stringValue: content } }]),
    ...(score === undefined ? [] : [{ key: key('score'), value: { doubleValue: score } }]),
  ];
}

const CHAT_SPAN: SpanForm = {
  attributes: {
    ...COMMON,
    'openinference.span.kind': () => text('LLM'),
    'llm.model_name': ({ model }) => text(model),
    'llm.provider': ({ provider }) => text(provider),
    'llm.system': ({ model }) => text(model.split('/')[0] ?? null),
    'llm.invocation_parameters': (trace) => text(modelParameters(trace)),
    'output.value': (_trace, { output }) => textValue(output),
    'output.mime_type': (_trace, { output }) => text(output && 'application/json'),
    'llm.token_count.completion': ofChat((chat) => integer(chat.completionTokens)),
    'llm.token_count.prompt_details.cache_read': ofChat((chat) => integer(chat.cachedTokens)),
    'llm.token_count.prompt_details.cache_write': ofChat((chat) => integer(chat.cacheWriteTokens)),
    'llm.token_count.prompt_details.audio': ofChat((chat) => integer(chat.audioInputTokens)),
    'llm.token_count.completion_details.reasoning': ofChat((chat) => integer(chat.reasoningTokens)),
    'llm.token_count.completion_details.audio': ofChat((chat) => integer(chat.audioOutputTokens)),
    'llm.cost.prompt': ofChat((chat, { cost }) => decimal(cost === null ? null : chat.promptCost)),
    'llm.cost.completion': ofChat((chat, { cost }) => decimal(cost === null ? null : chat.completionCost)),
    'llm.finish_reason': ofChat((chat) => text(chat.finishReason)),
  },
  listed: (trace) => (trace.chat?.content ? flattenedChat(trace.chat.content) : []),
  hasEvents: true,
};

export const arize: DestinationKind<ArizeConfig> = {
  type: 'arize',
  neutralType: 'kind_01',
  platform: 'Arize AX',
  configClass: ArizeConfig,
  delivery: otlpDelivery({
    limits: OTLP_LIMITS,
    spans: { embeddings: SPAN, chat: CHAT_SPAN, rerank: RERANK_SPAN },
    url: ({ baseUrl }) => tracesAddress(baseUrl),
    // Arize's exporter and its OTLP pages disagree about the names. The platform accepts either pair.
    headers: ({ apiKey, spaceKey }) => ({
      'arize-api-key': apiKey,
      'arize-space-id': spaceKey,
      api_key: apiKey,
      space_id: spaceKey,
    }),
    resource: ({ modelId }) => [
      { key: 'openinference.project.name', value: { stringValue: modelId } },
      { key: 'model_id', value: { stringValue: modelId } },
    ],
  }),
  example: { apiKey: 'ak-0123456789abcdef', spaceKey: 'U3BhY2U6MTIzNDU2Nzg=', modelId: 'my-project' },
};
