// Sentry's OTLP endpoint of one project.
import { otlpReceiver } from './otlp-receiver.js';

const ORIGIN = 'https://o1.ingest.us.sentry.io';
const PUBLIC_KEY = '0123456789abcdef0123456789canary';

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
    for (const [name, value] of attributes) {
      const hasText = attributes.has(name.replace(/s$/, ''));
      if (Array.isArray(value) && !hasText) return `${name}: a list that cannot be searched`;
    }
    return null;
  },
});
