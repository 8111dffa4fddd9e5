// W&B Weave: finished calls through its service API.
import { completionOf, isChat, promptOf, settingsOf, tokenDetails, usageOf } from './shared/chat-forms.js';
import type { ChatTrace } from './shared/chat-forms.js';
import { TextField } from './shared/config-fields.js';
import {
  basicAuthorization,
  normaliseAddress,
  outcomeOfStatus,
  problemUnless,
} from './shared/delivery-outcome.js';
import type { KindDelivery } from './shared/delivery.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { ParentSpansField, parentOf } from './shared/parent-spans.js';
import type { ParentSpans } from './shared/parent-spans.js';
import {
  bareModelName,
  errorText,
  outputSummary,
  postJson,
  traceMetadata,
  uuidOfTrace,
} from './shared/trace-json.js';
import { boundedText } from '../domain/text/bounded-text.js';
import type { GenerationTrace } from '../domain/generations/generation-trace.js';

export class WeaveConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = ['content-type', 'authorization'];

  @TextField({ description: 'API key of the platform.', secret: 'masked' })
  apiKey: string;

  @TextField({ description: 'Team or user that owns the project.' })
  entity: string;

  @TextField({ description: 'Name of the project.' })
  project: string;

  @TextField({
    description: 'Address of the trace server.',
    address: 'public',
    allowEmpty: true,
    default: 'https://trace.wandb.ai',
  })
  baseUrl = 'https://trace.wandb.ai';

  @ParentSpansField('root')
  parentSpans: ParentSpans = 'root';
}

const MAX_DISPLAY_NAME_LENGTH = 1024;

const credentials = ({ apiKey }: WeaveConfig): Record<string, string> => ({
  authorization: basicAuthorization('api', apiKey),
});

const projectId = ({ entity, project }: WeaveConfig): string => `${entity}/${project}`;

/** A finished call. A repeated delivery replaces it, by project, start and id. */
const call = (trace: GenerationTrace, config: WeaveConfig): object => ({
  project_id: projectId(config),
  ...idsOf(trace, parentOf(config, trace)),
  op_name: trace.operation,
  display_name: boundedText(trace.spanName, MAX_DISPLAY_NAME_LENGTH),
  started_at: trace.startedAt,
  ended_at: trace.endedAt,
  // The platform has no kind for embeddings.
  attributes: Object.assign(traceMetadata(trace), { weave: { kind: 'llm' } }),
  ...(isChat(trace) ? chatContent(trace) : embeddingContent(trace)),
  exception: errorText(trace),
  summary: {
    usage: {
      // Prices are filed under the bare name.
      [bareModelName(trace)]: {
        requests: 1,
        prompt_tokens: trace.promptTokens,
        total_tokens: trace.totalTokens,
        ...(trace.chat && { completion_tokens: trace.chat.completionTokens, ...tokenDetails(trace.chat) }),
      },
    },
    status_counts: { success: trace.error ? 0 : 1, error: trace.error ? 1 : 0 },
  },
});

function embeddingContent(trace: GenerationTrace): object {
  return { inputs: { model: trace.model, input: trace.input?.items }, output: outputSummary(trace) };
}

/** The platform shows a chat for an output in the form of a completion. */
function chatContent(trace: ChatTrace): object {
  const { content } = trace.chat;
  return {
    inputs: {
      model: bareModelName(trace),
      ...(content && promptOf(content)),
      parameters: settingsOf(trace.chat),
    },
    output: content ? { ...completionOf(trace), usage: usageOf(trace) } : undefined,
  };
}

function idsOf(trace: GenerationTrace, parent: string | null): object {
  // The page of a root is looked up by its trace: a root has one id for both.
  const id = parent === null ? uuidOfTrace(trace) : trace.spanId;
  const place = parent === null ? { trace_id: id } : { trace_id: trace.traceId, parent_id: parent };
  // A thread lists the calls that start a turn, which have the id of the turn.
  return { id, ...place, ...(trace.sessionId !== null && { thread_id: trace.sessionId, turn_id: id }) };
}

const delivery: KindDelivery<WeaveConfig> = {
  // The platform publishes no limit; Weave's own client stays below 31 MiB.
  limits: { maxTraces: 1_000, maxBytes: 4_000_000, linger: 1_000, timeout: 30_000 },
  addresses: ({ baseUrl }) => [normaliseAddress(baseUrl)],
  encode: (config, traces) => {
    // Not /call/upsert_batch: projects that store finished calls refuse it, and new projects store those.
    const path = `v2/${encodeURIComponent(config.entity)}/${encodeURIComponent(config.project)}/calls/complete`;
    const batch = traces.map((trace) => call(trace, config));
    return [postJson(`${normaliseAddress(config.baseUrl)}/${path}`, credentials(config), { batch })];
  },
  read: (response, _request, _config, context) => outcomeOfStatus(response, context),
  probe: (config) => [
    {
      request: postJson(`${normaliseAddress(config.baseUrl)}/calls/stream_query`, credentials(config), {
        project_id: projectId(config),
        limit: 1,
        columns: ['id'],
      }),
      problem: problemUnless((status) => status === 200),
    },
  ],
};

export const weave: DestinationKind<WeaveConfig> = {
  type: 'weave',
  neutralType: 'kind_15',
  platform: 'W&B Weave',
  configClass: WeaveConfig,
  delivery,
  example: { apiKey: '0123456789abcdef0123456789abcdef01234567', entity: 'my-team', project: 'my-project' },
};
