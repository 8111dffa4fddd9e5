// Any HTTP endpoint: OTLP JSON by POST or PUT.
import { ChoiceField, TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

export class WebhookConfig extends BaseDestinationConfig {
  @TextField({ description: 'Address that receives the traces.', allowEmpty: true })
  url: string;

  @ChoiceField({ description: 'HTTP method.', values: ['POST', 'PUT'], default: 'POST' })
  method: 'POST' | 'PUT' = 'POST';
}

export const webhook: DestinationKind = {
  type: 'webhook',
  neutralType: null,
  platform: 'Webhook',
  configClass: WebhookConfig,
  example: { url: 'https://example.com/traces' },
};
