// Opik by Comet: traces and spans through its API.
import { choicesOf, isChat, promptOf } from './shared/chat-forms.js';
import type { ChatTrace } from './shared/chat-forms.js';
import { TextField } from './shared/config-fields.js';
import { outcomeOfStatus, problemUnless } from './shared/delivery-outcome.js';
import type { KindDelivery } from './shared/delivery.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { tagsOf } from './otlp/attributes.js';
import { errorText, outputSummary, postJson, traceMetadata, uuidOfTrace } from './shared/trace-json.js';
import type { GenerationTrace } from '../domain/generations/generation-trace.js';

export class OpikConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = ['content-type', 'authorization', 'comet-workspace'];

  @TextField({ description: 'API key of the platform.', secret: 'masked', header: 'as it is' })
  apiKey: string;

  @TextField({ description: 'Name of the workspace.', header: 'as it is' })
  workspace: string;

  @TextField({ description: 'Name of the project.' })
  projectName: string;
}

const API = 'https://www.comet.com/opik/api/v1/private';

// The platform expects the key without `Bearer`.
const credentials = ({ apiKey, workspace }: OpikConfig): Record<string, string> => ({
  authorization: apiKey,
  'comet-workspace': workspace,
});

/** The members that a trace and its one span share. */
function shared(trace: GenerationTrace, project: string): object {
  const text = errorText(trace);
  return {
    project_name: project,
    start_time: trace.startedAt,
    end_time: trace.endedAt,
    ...(isChat(trace) ? chatContent(trace) : embeddingContent(trace)),
    metadata: traceMetadata(trace),
    tags: tagsOf(trace),
    // The platform requires a traceback that is not empty.
    error_info: trace.error
      ? { exception_type: trace.error.type, message: text, traceback: text }
      : undefined,
  };
}

function embeddingContent(trace: GenerationTrace): object {
  return { input: trace.input ? { input: trace.input.items } : undefined, output: outputSummary(trace) };
}

function chatContent({ chat: { content, timeToFirstTokenMs } }: ChatTrace): object {
  return {
    input: content ? promptOf(content) : undefined,
    output: content ? { choices: choicesOf(content) } : undefined,
    // Milliseconds.
    ttft: timeToFirstTokenMs ?? undefined,
  };
}

/** The platform takes integers only. */
function chatUsage({ chat }: ChatTrace): object {
  return {
    completion_tokens: chat.completionTokens,
    'original_usage.prompt_tokens_details.cached_tokens': chat.cachedTokens,
    'original_usage.prompt_tokens_details.cache_write_tokens': chat.cacheWriteTokens,
    'original_usage.prompt_tokens_details.audio_tokens': chat.audioInputTokens,
    'original_usage.completion_tokens_details.reasoning_tokens': chat.reasoningTokens,
  };
}

const traceItem = (trace: GenerationTrace, project: string): object => ({
  id: uuidOfTrace(trace),
  name: trace.traceName ?? trace.spanName,
  thread_id: trace.sessionId ?? undefined,
  ...shared(trace, project),
});

const spanItem = (trace: GenerationTrace, project: string): object => ({
  id: uuidOfTrace(trace, 1),
  trace_id: uuidOfTrace(trace),
  name: trace.spanName,
  // The platform has no type for embeddings.
  type: 'llm',
  model: trace.model,
  provider: trace.provider ?? undefined,
  usage: {
    prompt_tokens: trace.promptTokens,
    total_tokens: trace.totalTokens,
    ...(isChat(trace) ? chatUsage(trace) : {}),
  },
  total_estimated_cost: trace.cost ?? undefined,
  ...shared(trace, project),
});

const delivery: KindDelivery<OpikConfig> = {
  limits: { maxTraces: 1_000, maxBytes: 4_000_000, linger: 1_000, timeout: 30_000 },
  addresses: () => [API],
  encode: (config, traces) => {
    const headers = credentials(config);
    const { projectName } = config;
    return [
      postJson(`${API}/traces/batch`, headers, {
        traces: traces.map((trace) => traceItem(trace, projectName)),
      }),
      postJson(`${API}/spans/batch`, headers, { spans: traces.map((trace) => spanItem(trace, projectName)) }),
    ];
  },
  read: (response, _request, _config, context) => outcomeOfStatus(response, context),
  probe: (config) => [
    {
      request: {
        method: 'GET',
        url: `${API}/projects?size=1&name=${encodeURIComponent(config.projectName)}`,
        headers: credentials(config),
      },
      problem: problemUnless((status) => status === 200),
    },
  ],
};

export const opik: DestinationKind<OpikConfig> = {
  type: 'opik',
  neutralType: 'kind_09',
  platform: 'Opik',
  configClass: OpikConfig,
  delivery,
  example: { apiKey: '0123456789abcdef', workspace: 'my-team', projectName: 'my-project' },
};
