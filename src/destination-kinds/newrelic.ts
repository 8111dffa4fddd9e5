// New Relic: OTLP traces.
import { ChoiceField, TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

export class NewrelicConfig extends BaseDestinationConfig {
  @TextField({ description: 'Ingest license key.', secret: 'masked' })
  licenseKey: string;

  @ChoiceField({ description: 'Data centre of the account.', values: ['us', 'eu'], default: 'us' })
  region: 'us' | 'eu' = 'us';
}

export const newrelic: DestinationKind = {
  type: 'newrelic',
  neutralType: 'kind_08',
  platform: 'New Relic',
  configClass: NewrelicConfig,
  example: { licenseKey: '0123456789abcdef0123456789abcdefFFFFNRAL' },
};
