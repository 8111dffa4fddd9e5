// New Relic's OTLP endpoint of the EU. It says nothing in bodies, and drops what is above its limits.
import type { Attributes } from './otlp-validator.js';
import { otlpReceiver } from './otlp-receiver.js';

const LICENSE_KEY = '0123456789abcdef0123456789canaryFFFFNRAL';

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
  problemOf: ({ attributes, events }) =>
    isWithinLimits(attributes) && events.every((event) => isWithinLimits(event.attributes))
      ? null
      : 'above the limits',
  success: { status: 200 },
  partial: null,
  unauthorized: { status: 403 },
});
