// Braintrust: rows of a project log.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

export class BraintrustConfig extends BaseDestinationConfig {
  @TextField({ description: 'API key of the platform.', secret: 'masked' })
  apiKey: string;

  @TextField({ description: 'Id of the project.' })
  projectId: string;

  @TextField({
    description: 'Address of the API; the European one is its own.',
    allowEmpty: true,
    default: 'https://api.braintrust.dev',
  })
  baseUrl = 'https://api.braintrust.dev';
}

export const braintrust: DestinationKind = {
  type: 'braintrust',
  neutralType: 'kind_02',
  platform: 'Braintrust',
  configClass: BraintrustConfig,
  example: { apiKey: 'sk-bt-0123456789abcdef', projectId: '6f9619ff-8b86-d011-b42d-00cf4fc964ff' },
};
