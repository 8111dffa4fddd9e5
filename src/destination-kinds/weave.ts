// W&B Weave: finished calls through its service API.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

export class WeaveConfig extends BaseDestinationConfig {
  @TextField({ description: 'API key of the platform.', secret: 'masked' })
  apiKey: string;

  @TextField({ description: 'Team or user that owns the project.' })
  entity: string;

  @TextField({ description: 'Name of the project.' })
  project: string;

  @TextField({
    description: 'Address of the trace server.',
    allowEmpty: true,
    default: 'https://trace.wandb.ai',
  })
  baseUrl = 'https://trace.wandb.ai';
}

export const weave: DestinationKind = {
  type: 'weave',
  neutralType: 'kind_15',
  platform: 'W&B Weave',
  configClass: WeaveConfig,
  example: { apiKey: '0123456789abcdef0123456789abcdef01234567', entity: 'my-team', project: 'my-project' },
};
