// Datadog LLM Observability: spans through its API.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

export class DatadogConfig extends BaseDestinationConfig {
  @TextField({ description: 'API key with the LLM Observability permission.', secret: 'masked' })
  apiKey: string;

  @TextField({ description: 'Application name shown in the platform.' })
  mlApp: string;

  @TextField({
    description: 'API address of the site.',
    allowEmpty: true,
    default: 'https://api.datadoghq.com',
  })
  url = 'https://api.datadoghq.com';
}

export const datadog: DestinationKind = {
  type: 'datadog',
  neutralType: 'kind_04',
  platform: 'Datadog',
  configClass: DatadogConfig,
  example: { apiKey: '0123456789abcdef0123456789abcdef', mlApp: 'my-app' },
};
