// Langfuse's OTLP endpoint.
import type { Attributes } from './otlp-validator.js';
import { otlpReceiver } from './otlp-receiver.js';

const ORIGIN = 'https://jp.cloud.langfuse.com';
const SECRET_KEY = 'sk-lf-0123456789abcdef-canary';
const PUBLIC_KEY = 'pk-lf-fedcba9876543210-canary';

const JSON_ATTRIBUTES = [
  'langfuse.observation.input',
  'langfuse.observation.output',
  'langfuse.observation.model.parameters',
  'langfuse.observation.usage_details',
  'langfuse.observation.cost_details',
];
const isJson = (value: unknown): boolean => {
  try {
    return typeof JSON.parse(String(value)) === 'object';
  } catch {
    return false;
  }
};

/** The platform adds the buckets of usage and of cost, and shows a moment as it is. */
function addsUp(attributes: Attributes): boolean {
  const { total, ...buckets } = JSON.parse(
    String(attributes.get('langfuse.observation.usage_details')),
  ) as Record<string, number>;
  const { total: cost, ...sides } = JSON.parse(
    String(attributes.get('langfuse.observation.cost_details') ?? '{}'),
  ) as Record<string, number>;
  const sumOf = (parts: Record<string, number>): number =>
    Object.values(parts).reduce((sum, part) => sum + part, 0);
  const start = attributes.get('langfuse.observation.completion_start_time');
  return (
    sumOf(buckets) === total &&
    (cost === undefined || Math.abs(sumOf(sides) - cost) < 1e-12) &&
    (start === undefined || new Date(String(start)).toISOString() === start)
  );
}

/** By operation. */
const TYPES: Readonly<Record<string, string>> = {
  chat: 'generation',
  embeddings: 'embedding',
  rerank: 'span',
};

export const langfuseReceiver = otlpReceiver({
  type: 'langfuse',
  config: { secretKey: SECRET_KEY, publicKey: PUBLIC_KEY, baseUrl: ORIGIN },
  origin: ORIGIN,
  addressField: 'baseUrl',
  path: '/api/public/otel/v1/traces',
  isAuthorized: ({ authorization }) =>
    authorization === `Basic ${Buffer.from(`${PUBLIC_KEY}:${SECRET_KEY}`).toString('base64')}`,
  maxBytes: 5_000_000,
  problemOf: ({ attributes, parentSpanId }, headers) => {
    if (headers['x-langfuse-ingestion-version'] !== '4') return 'an unknown ingestion version';
    const type = TYPES[String(attributes.get('gen_ai.operation.name'))];
    if (attributes.get('langfuse.observation.type') !== type) return 'an unknown type of observation';
    if (type === 'generation' && !addsUp(attributes)) return 'buckets that do not add up';
    if (!attributes.get('langfuse.trace.name')) return 'a trace without a name';
    if (parentSpanId !== '' || attributes.get('langfuse.internal.is_app_root') !== true)
      return 'a trace without a root';
    const environment = attributes.get('langfuse.environment') ?? 'default';
    if (!/^(?!langfuse)[a-z0-9-_]{1,40}$/.test(String(environment))) return 'an invalid environment';
    const broken = JSON_ATTRIBUTES.find((name) => attributes.has(name) && !isJson(attributes.get(name)));
    return broken === undefined ? null : `${broken}: not JSON`;
  },
  success: { status: 200, body: {} },
  unauthorized: {
    status: 401,
    body: { message: 'Invalid credentials. Confirm that you’ve configured the correct host.' },
  },
});
