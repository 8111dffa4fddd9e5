// Opik by Comet: traces and spans through its API.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

export class OpikConfig extends BaseDestinationConfig {
  @TextField({ description: 'API key of the platform.', secret: 'masked' })
  apiKey: string;

  @TextField({ description: 'Name of the workspace.' })
  workspace: string;

  @TextField({ description: 'Name of the project.' })
  projectName: string;
}

export const opik: DestinationKind = {
  type: 'opik',
  neutralType: 'kind_09',
  platform: 'Opik',
  configClass: OpikConfig,
  example: { apiKey: '0123456789abcdef', workspace: 'my-team', projectName: 'my-project' },
};
