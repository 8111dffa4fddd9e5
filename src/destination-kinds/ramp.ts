// Ramp: OTLP traces of AI usage.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

export class RampConfig extends BaseDestinationConfig {
  @TextField({ description: "Key of Ramp's AI usage integration.", secret: 'masked' })
  apiKey: string;

  @TextField({
    description: 'Address of the ingestion endpoint.',
    allowEmpty: true,
    default: 'https://api.ramp.com/developer/v1/ai-usage/openrouter',
  })
  baseUrl = 'https://api.ramp.com/developer/v1/ai-usage/openrouter';
}

export const ramp: DestinationKind = {
  type: 'ramp',
  neutralType: 'kind_11',
  platform: 'Ramp',
  configClass: RampConfig,
  example: { apiKey: 'ramp_0123456789abcdef' },
};
