// Braintrust: rows of a project log.
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
    input: trace.input && { inputs: inputTexts(trace.input).map((content) => ({ content })) },
    output: { count: trace.error === null ? trace.inputCount : 0 },
    error: errorText(trace),
    // Prices are filed under the bare name.
    metadata: Object.assign(traceMetadata(trace), {
      model: bareModelName(trace),
      openrouter_model: trace.model,
    }),
    tags: [...new Set(tagsOf(trace))],
    span_attributes: { name: trace.spanName, type: 'llm' },
    metrics: {
      start: trace.startedAt.getTime() / 1000,
      end: trace.endedAt.getTime() / 1000,
      prompt_tokens: trace.promptTokens,
      completion_tokens: 0,
      tokens: trace.totalTokens,
      estimated_cost: trace.cost ?? undefined,
    },
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
