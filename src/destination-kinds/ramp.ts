// Ramp: OTLP traces of AI usage.
import { TextField } from './shared/config-fields.js';
import { normaliseAddress } from './shared/delivery-outcome.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { ParentSpansField } from './shared/parent-spans.js';
import type { ParentSpans } from './shared/parent-spans.js';
import { GENERIC_SPANS } from './otlp/generic-span.js';
import { OTLP_LIMITS } from './otlp/limits.js';
import { otlpDelivery } from './otlp/otlp-delivery.js';

export class RampConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = ['content-type', 'authorization'];

  @TextField({ description: "Key of Ramp's AI usage integration.", secret: 'masked', header: 'as it is' })
  apiKey: string;

  @TextField({
    description: 'Address of the ingestion endpoint. The path and query of another one are shown masked.',
    address: 'secret',
    allowEmpty: true,
    default: 'https://api.ramp.com/developer/v1/ai-usage/openrouter',
  })
  baseUrl = 'https://api.ramp.com/developer/v1/ai-usage/openrouter';

  @ParentSpansField('link')
  parentSpans: ParentSpans = 'link';
}

export const ramp: DestinationKind<RampConfig> = {
  type: 'ramp',
  neutralType: 'kind_11',
  platform: 'Ramp',
  configClass: RampConfig,
  delivery: otlpDelivery({
    limits: OTLP_LIMITS,
    spans: GENERIC_SPANS,
    // The address is complete; nothing is appended.
    url: ({ baseUrl }) => normaliseAddress(baseUrl),
    headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  }),
  example: { apiKey: 'ramp_0123456789abcdef' },
};
