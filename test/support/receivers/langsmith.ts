// LangSmith's OTLP endpoint, asked with an organization's key.
import { otlpReceiver } from './otlp-receiver.js';

const ORIGIN = 'https://eu.api.smith.langchain.com';
const API_KEY = 'lsv2_sk_0123456789abcdef_canary';
const WORKSPACE_ID = '0193a1b2-0000-7000-8000-0000000000aa';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

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
    return attributes.get('langsmith.span.kind') === 'embedding' ? null : 'an unknown type of run';
  },
  success: { status: 202, body: {} },
  unauthorized: { status: 403, body: { detail: 'Forbidden' } },
});
