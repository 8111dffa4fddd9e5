// Grafana Cloud: OTLP traces through its gateway.
import { TextField } from './shared/config-fields.js';
import { basicAuthorization } from './shared/delivery-outcome.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { ParentSpansField } from './shared/parent-spans.js';
import type { ParentSpans } from './shared/parent-spans.js';
import { tracesAddress } from './otlp/address.js';
import { GENERIC_SPANS } from './otlp/generic-span.js';
import { OTLP_LIMITS } from './otlp/limits.js';
import { otlpDelivery } from './otlp/otlp-delivery.js';

export class GrafanaConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = ['content-type', 'authorization'];

  @TextField({ description: 'Access policy token with traces:write.', secret: 'masked' })
  apiKey: string;

  @TextField({ description: 'Instance id of the stack.' })
  instanceId: string;

  @TextField({
    description: 'Address of the OTLP gateway of the stack.',
    address: 'public',
    allowEmpty: true,
    default: 'https://otlp-gateway-prod-us-west-0.grafana.net',
  })
  baseUrl = 'https://otlp-gateway-prod-us-west-0.grafana.net';

  @ParentSpansField('link')
  parentSpans: ParentSpans = 'link';
}

export const grafana: DestinationKind<GrafanaConfig> = {
  type: 'grafana',
  neutralType: 'kind_05',
  platform: 'Grafana Cloud',
  configClass: GrafanaConfig,
  delivery: otlpDelivery({
    limits: OTLP_LIMITS,
    spans: GENERIC_SPANS,
    url: ({ baseUrl }) => tracesAddress(baseUrl, '/otlp'),
    headers: ({ instanceId, apiKey }) => ({ authorization: basicAuthorization(instanceId, apiKey) }),
  }),
  example: { apiKey: 'glc_0123456789abcdef', instanceId: '123456' },
};
