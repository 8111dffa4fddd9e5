// An OpenTelemetry Collector with an OTLP/HTTP receiver in its default settings.
import { otlpReceiver } from './otlp-receiver.js';

const ORIGIN = 'https://collector.example.com:4318';

export const otelCollectorReceiver = otlpReceiver({
  type: 'otel-collector',
  config: { endpoint: `${ORIGIN}/v1/traces` },
  origin: ORIGIN,
  addressField: 'endpoint',
  path: '/v1/traces',
  isAuthorized: () => true,
  maxBytes: 20_971_520,
});
