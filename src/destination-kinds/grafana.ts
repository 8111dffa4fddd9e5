// Grafana Cloud: OTLP traces through its gateway.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

export class GrafanaConfig extends BaseDestinationConfig {
  @TextField({ description: 'Access policy token with traces:write.', secret: 'masked' })
  apiKey: string;

  @TextField({ description: 'Instance id of the stack.' })
  instanceId: string;

  @TextField({
    description: 'Address of the OTLP gateway of the stack.',
    allowEmpty: true,
    default: 'https://otlp-gateway-prod-us-west-0.grafana.net',
  })
  baseUrl = 'https://otlp-gateway-prod-us-west-0.grafana.net';
}

export const grafana: DestinationKind = {
  type: 'grafana',
  neutralType: 'kind_05',
  platform: 'Grafana Cloud',
  configClass: GrafanaConfig,
  example: { apiKey: 'glc_0123456789abcdef', instanceId: '123456' },
};
