// Sentry's OTLP endpoint of one project.
import { otlpReceiver } from './otlp-receiver.js';
import type { Attributes } from './otlp-validator.js';

const ORIGIN = 'https://o1.ingest.us.sentry.io';
const PUBLIC_KEY = '0123456789abcdef0123456789canary';

const JSON_TEXTS = [
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.tool.definitions',
  'gen_ai.system_instructions',
  'gen_ai.response.finish_reasons',
];
const isJsonList = (value: unknown): boolean =>
  typeof value === 'string' && Array.isArray(JSON.parse(value) as unknown);

/** Where it has a price the platform computes the cost from the tokens under its own names, and drops the given one. */
function hasTokensOfCache(attributes: Attributes): boolean {
  const written = attributes.get('gen_ai.usage.cache_write.input_tokens');
  const isPriced = attributes.has('gen_ai.cost.input_tokens');
  return (
    attributes.get('gen_ai.usage.cache_creation.input_tokens') === written &&
    (written === undefined || attributes.has('gen_ai.cost.cache_creation.input_tokens') === isPriced)
  );
}

/** The platform's reader of messages takes the result of a tool from its older name only. */
function hasResults(attributes: Attributes): boolean {
  const messages = JSON.parse(String(attributes.get('gen_ai.input.messages') ?? '[]')) as readonly {
    readonly parts: readonly { readonly type: string; readonly result?: unknown }[];
  }[];
  return messages
    .flatMap(({ parts }) => parts)
    .every(({ type, result }) => type !== 'tool_call_response' || result !== undefined);
}

export const sentryReceiver = otlpReceiver({
  type: 'sentry',
  config: {
    dsn: `https://${PUBLIC_KEY}@o1.ingest.us.sentry.io/42`,
    otlpEndpoint: `${ORIGIN}/api/42/integration/otlp`,
  },
  origin: ORIGIN,
  addressField: 'otlpEndpoint',
  path: '/api/42/integration/otlp/v1/traces',
  isAuthorized: (headers) => headers['x-sentry-auth'] === `sentry sentry_key=${PUBLIC_KEY}`,
  maxBytes: 4_194_304,
  // Events are dropped there without a word, so that what stands in them would be lost.
  problemOf: ({ events, attributes }) => {
    if (events.length > 0) return 'a span with events';
    for (const name of JSON_TEXTS) {
      const value = attributes.get(name);
      if (value !== undefined && !isJsonList(value)) return `${name}: not a list as JSON text`;
    }
    if (!hasTokensOfCache(attributes)) return 'tokens of the cache that no cost includes';
    if (!hasResults(attributes)) return 'results of tools that no conversation shows';
    for (const [name, value] of attributes) {
      const hasText = attributes.has(name.replace(/s$/, ''));
      if (Array.isArray(value) && !hasText) return `${name}: a list that cannot be searched`;
    }
    return null;
  },
});
