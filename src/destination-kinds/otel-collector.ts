// Any OTLP/HTTP receiver, such as an OpenTelemetry Collector.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

export class OtelCollectorConfig extends BaseDestinationConfig {
  @TextField({ description: 'Full address of the OTLP traces receiver.', allowEmpty: true })
  endpoint: string;
}

export const otelCollector: DestinationKind = {
  type: 'otel-collector',
  neutralType: null,
  platform: 'OpenTelemetry Collector',
  configClass: OtelCollectorConfig,
  example: { endpoint: 'https://collector.example.com:4318/v1/traces' },
};
