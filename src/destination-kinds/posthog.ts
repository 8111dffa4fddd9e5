// PostHog: LLM events through its batch API.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

export class PosthogConfig extends BaseDestinationConfig {
  @TextField({ description: 'Project API key.', secret: 'masked' })
  apiKey: string;

  @TextField({
    description: 'Ingestion address of the region.',
    allowEmpty: true,
    default: 'https://us.i.posthog.com',
  })
  endpoint = 'https://us.i.posthog.com';
}

export const posthog: DestinationKind = {
  type: 'posthog',
  neutralType: 'kind_10',
  platform: 'PostHog',
  configClass: PosthogConfig,
  example: { apiKey: 'phc_0123456789abcdef' },
};
