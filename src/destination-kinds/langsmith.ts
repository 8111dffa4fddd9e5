// LangSmith: OTLP traces with langsmith attributes.
import { firstTokenAt, isChat, numberSetting } from './shared/chat-forms.js';
import type { ChatTrace } from './shared/chat-forms.js';
import { TextField } from './shared/config-fields.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { ParentSpansField } from './shared/parent-spans.js';
import type { ParentSpans } from './shared/parent-spans.js';
import { tracesAddress } from './otlp/address.js';
import { decimal, flag, integer, jsonText, text } from './otlp/any-value.js';
import { GEN_AI_ATTRIBUTES, OLDER_ATTRIBUTES, inputValue, tagsOf, textValue } from './otlp/attributes.js';
import type { AttributeTable } from './otlp/attributes.js';
import { CHAT_ATTRIBUTES, CHAT_TOTALS, OLDER_CHAT_ATTRIBUTES, ofChat } from './otlp/chat-attributes.js';
import { OTLP_LIMITS } from './otlp/limits.js';
import { otlpDelivery } from './otlp/otlp-delivery.js';
import type { SpanForm } from './otlp/span.js';
import { bareModelName, outputSummary, uuidOfTrace } from './shared/trace-json.js';
import type { GenerationTrace } from '../domain/generations/generation-trace.js';

export class LangsmithConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = ['content-type', 'x-api-key', 'langsmith-project', 'x-tenant-id'];

  @TextField({ description: 'API key of the platform.', secret: 'masked', header: 'as it is' })
  apiKey: string;

  @TextField({
    description: 'Address of the API.',
    address: 'public',
    allowEmpty: true,
    default: 'https://api.smith.langchain.com',
  })
  endpoint = 'https://api.smith.langchain.com';

  @TextField({ description: 'Name of the project.', default: 'main' })
  project = 'main';

  @TextField({
    description: 'Id of the workspace; needed with organization-scoped keys.',
    optional: true,
    allowEmpty: true,
    header: 'as it is',
  })
  workspaceId?: string;

  @ParentSpansField('root')
  parentSpans: ParentSpans = 'root';
}

const COMMON: AttributeTable = {
  'gen_ai.prompt': inputValue,
  'langsmith.metadata.ls_model_name': (trace) => text(bareModelName(trace)),
  'langsmith.metadata.ls_provider': ({ provider }) => text(provider),
  'langsmith.metadata.trace_name': ({ traceName }) => text(traceName),
  // The run id of a child: a repeated delivery updates the same run.
  'langsmith.span.id': (trace) => text(uuidOfTrace(trace)),
  'langsmith.span.tags': (trace) => text(tagsOf(trace).join(',') || null),
  // This key groups runs into threads. `langsmith.trace.session_id` would name a project instead.
  'langsmith.metadata.session_id': ({ sessionId }) => text(sessionId),
  'langsmith.metadata.user_id': ({ userId }) => text(userId),
};

const SPAN: SpanForm = {
  attributes: {
    ...GEN_AI_ATTRIBUTES,
    ...OLDER_ATTRIBUTES,
    ...COMMON,
    'langsmith.span.kind': ({ rerank }) => text(rerank ? 'retriever' : 'embedding'),
    // The output is what the platform looks for before it reads tokens and cost.
    'gen_ai.completion': (trace) => jsonText(outputSummary(trace)),
    'langsmith.usage_metadata': (trace) => jsonText(usageOf(trace)),
  },
  metadata: { caller: 'langsmith.metadata.', own: 'langsmith.metadata.' },
  hasEvents: true,
  root: {
    // The platform makes the trace id of a root its run id. Calls of one caller's trace would be one run.
    traceId: ({ generationId }) => generationId.replaceAll('-', ''),
    attributes: {
      'langsmith.span.id': ({ generationId }) => text(generationId),
      // A span whose parent never arrives is held for hours and dropped.
      'langsmith.is_root': ({ parentSpanId }) => (parentSpanId === null ? null : flag(true)),
      'langsmith.metadata.trace_id': ({ traceId, callerTraceId }) => text(callerTraceId ?? traceId),
    },
  },
};

// The numbered form of messages (`gen_ai.prompt.0.content`) would lose tool calls.
const CHAT_SPAN: SpanForm = {
  ...SPAN,
  attributes: {
    ...CHAT_ATTRIBUTES,
    ...CHAT_TOTALS,
    ...OLDER_CHAT_ATTRIBUTES,
    ...COMMON,
    'langsmith.span.kind': () => text('llm'),
    // Tokens and cost are read only beside an output: a failure has an empty one.
    'gen_ai.completion': (_trace, { completion }) => textValue(completion),
    'langsmith.usage_metadata': (trace) => jsonText(isChat(trace) ? chatUsageOf(trace) : null),
    'langsmith.metadata.ls_model_type': () => text('chat'),
    'langsmith.metadata.ls_temperature': ofChat((chat) => decimal(numberSetting(chat, 'temperature'))),
    'langsmith.metadata.ls_max_tokens': ofChat((chat) => integer(numberSetting(chat, 'max_tokens'))),
    'langsmith.metadata.ls_stop': ofChat(({ content }) =>
      jsonText(content?.stop.length ? content.stop : null),
    ),
    'langsmith.metadata.finish_reason': ofChat((chat) => text(chat.finishReason)),
  },
  // The platform's own clients mark the first token so.
  event: { name: 'new_token', at: (trace) => (isChat(trace) ? firstTokenAt(trace) : null) },
};

function chatUsageOf({ promptTokens, totalTokens, cost, chat }: ChatTrace): object {
  return {
    input_tokens: promptTokens,
    output_tokens: chat.completionTokens,
    total_tokens: totalTokens,
    input_token_details: {
      cache_read: chat.cachedTokens,
      cache_creation: chat.cacheWriteTokens,
      audio: chat.audioInputTokens,
    },
    output_token_details: { reasoning: chat.reasoningTokens, audio: chat.audioOutputTokens },
    ...(cost === null
      ? {}
      : {
          input_cost: chat.promptCost ?? undefined,
          output_cost: chat.completionCost ?? undefined,
          total_cost: cost,
        }),
  };
}

/** The platform computes the cost of runs of type `llm` only; for others it takes the given total. */
function usageOf({ promptTokens, totalTokens, cost }: GenerationTrace): object {
  return {
    input_tokens: promptTokens,
    output_tokens: 0,
    total_tokens: totalTokens,
    ...(cost === null ? {} : { input_cost: cost, total_cost: cost }),
  };
}

// The receiver misreads bytes beyond ASCII in headers, and control characters cannot be sent.
const HELD_BY_HEADER = /^[\x20-\x7e]*$/;

export const langsmith: DestinationKind<LangsmithConfig> = {
  type: 'langsmith',
  neutralType: 'kind_07',
  platform: 'LangSmith',
  configClass: LangsmithConfig,
  delivery: otlpDelivery({
    limits: OTLP_LIMITS,
    spans: { embeddings: SPAN, chat: CHAT_SPAN },
    attributes: ({ project }) =>
      HELD_BY_HEADER.test(project)
        ? []
        : [{ key: 'langsmith.trace.session_name', value: { stringValue: project } }],
    url: ({ endpoint }) => tracesAddress(endpoint, '/otel'),
    headers: ({ apiKey, project, workspaceId }) => ({
      'x-api-key': apiKey,
      ...(HELD_BY_HEADER.test(project) ? { 'langsmith-project': project } : {}),
      ...(workspaceId ? { 'x-tenant-id': workspaceId } : {}),
    }),
  }),
  example: { apiKey: 'lsv2_pt_0123456789abcdef' },
};
