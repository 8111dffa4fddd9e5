// New Relic's OTLP endpoint of the EU. It says nothing in bodies, and drops what is above its limits.
import type { Attributes } from './otlp-validator.js';
import { otlpReceiver } from './otlp-receiver.js';

const LICENSE_KEY = '0123456789abcdef0123456789canaryFFFFNRAL';

const SUMMED = ['gen_ai.usage.input_tokens', 'gen_ai.usage.total_tokens'];

function isWithinLimits(attributes: Attributes): boolean {
  return (
    attributes.size <= 64 &&
    [...attributes].every(
      ([name, value]) =>
        name.length <= 255 &&
        (typeof value !== 'string' || value.length <= 4095) &&
        (!Array.isArray(value) || value.length <= 64),
    )
  );
}

export const newrelicReceiver = otlpReceiver({
  type: 'newrelic',
  config: { licenseKey: LICENSE_KEY, region: 'eu' },
  origin: 'https://otlp.eu01.nr-data.net',
  path: '/v1/traces',
  isAuthorized: (headers) => headers['api-key'] === LICENSE_KEY,
  maxBytes: 1_000_000,
  problemOf: ({ attributes, events }) => {
    if (!isWithinLimits(attributes) || !events.every((event) => isWithinLimits(event.attributes)))
      return 'above the limits';
    // Attributes beyond the limit are lost: queries for the cost of all calls would miss this one.
    return SUMMED.every((name) => attributes.has(name)) ? null : 'a call that no sum includes';
  },
  success: { status: 200 },
  partial: null,
  unauthorized: { status: 403 },
});
