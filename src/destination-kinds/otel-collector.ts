// Any OTLP/HTTP receiver, such as an OpenTelemetry Collector.
import { TextField } from './shared/config-fields.js';
import { withScheme } from './shared/delivery-outcome.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { ParentSpansField } from './shared/parent-spans.js';
import type { ParentSpans } from './shared/parent-spans.js';
import { tracesAddress } from './otlp/address.js';
import { GENERIC_SPANS } from './otlp/generic-span.js';
import { OTLP_LIMITS } from './otlp/limits.js';
import { otlpDelivery } from './otlp/otlp-delivery.js';

export class OtelCollectorConfig extends BaseDestinationConfig {
  @TextField({
    description: 'Full address of the OTLP traces receiver. Its path and query are shown masked.',
    address: 'secret',
    allowEmpty: true,
  })
  endpoint: string;

  @ParentSpansField('link')
  parentSpans: ParentSpans = 'link';
}

/** A bare origin gets the standard path; an address with a path stays unchanged. */
function collectorAddress(endpoint: string): string {
  const address = withScheme(endpoint);
  return URL.canParse(address) && new URL(address).pathname === '/' ? tracesAddress(address) : address;
}

export const otelCollector: DestinationKind<OtelCollectorConfig> = {
  type: 'otel-collector',
  neutralType: null,
  platform: 'OpenTelemetry Collector',
  configClass: OtelCollectorConfig,
  delivery: otlpDelivery({
    limits: OTLP_LIMITS,
    spans: GENERIC_SPANS,
    url: ({ endpoint }) => collectorAddress(endpoint),
    // Credentials, if a receiver needs them, are among the config's custom headers.
    headers: () => ({}),
  }),
  example: { endpoint: 'https://collector.example.com:4318/v1/traces' },
};
