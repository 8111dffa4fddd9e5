// LangSmith's OTLP endpoint, called with an organization's key.
import type { Attributes } from './otlp-validator.js';
import { otlpReceiver } from './otlp-receiver.js';

const ORIGIN = 'https://eu.api.smith.langchain.com';
const API_KEY = 'lsv2_sk_0123456789abcdef_canary';
const WORKSPACE_ID = '0193a1b2-0000-7000-8000-0000000000aa';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The translator reads tokens only beside an output, and both as objects; numbered messages would lose their calls. */
function problemOfChat(attributes: Attributes): string | null {
  const output = JSON.parse(String(attributes.get('gen_ai.completion') ?? 'null')) as {
    choices?: unknown;
  } | null;
  if (!Array.isArray(output?.choices)) return 'a run of a model without outputs';
  const input = JSON.parse(String(attributes.get('gen_ai.prompt') ?? '{"messages":[]}')) as {
    messages?: unknown;
  };
  if (!Array.isArray(input.messages)) return 'an input without messages';
  if ([...attributes.keys()].some((name) => /^gen_ai\.(prompt|completion)\.\d/.test(name)))
    return 'numbered messages';
  const usage = JSON.parse(String(attributes.get('langsmith.usage_metadata'))) as Record<string, number>;
  return (usage['input_tokens'] ?? 0) + (usage['output_tokens'] ?? 0) === usage['total_tokens']
    ? null
    : 'tokens that do not add up';
}

export const langsmithReceiver = otlpReceiver({
  type: 'langsmith',
  config: { apiKey: API_KEY, endpoint: ORIGIN, project: 'search', workspaceId: WORKSPACE_ID },
  origin: ORIGIN,
  addressField: 'endpoint',
  path: '/otel/v1/traces',
  isAuthorized: (headers) => headers['x-api-key'] === API_KEY && headers['x-tenant-id'] === WORKSPACE_ID,
  maxBytes: 4_194_304,
  problemOf: ({ attributes, traceId, parentSpanId }, headers) => {
    if (headers['langsmith-project'] !== 'search') return 'no such project';
    if (!UUID.test(String(attributes.get('langsmith.span.id')))) return 'a run without a UUID';
    // A run whose parent never arrives is dropped. The id of a root is made of its trace id.
    if (parentSpanId !== '') return 'a run without its parent';
    const isOwnTrace = String(attributes.get('langsmith.span.id')).replaceAll('-', '') === traceId;
    if (!isOwnTrace) return 'a root whose id is not that of its trace';
    return attributes.get('langsmith.span.kind') === 'llm'
      ? problemOfChat(attributes)
      : ['embedding', 'retriever'].includes(String(attributes.get('langsmith.span.kind')))
        ? null
        : 'an unknown type of run';
  },
  success: { status: 202, body: {} },
  unauthorized: { status: 403, body: { detail: 'Forbidden' } },
});
