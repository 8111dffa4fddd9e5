// Arize AX: OTLP traces with OpenInference attributes.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

export class ArizeConfig extends BaseDestinationConfig {
  @TextField({ description: 'API key of the platform.', secret: 'masked' })
  apiKey: string;

  @TextField({ description: 'Key of the space.', secret: 'masked' })
  spaceKey: string;

  @TextField({ description: 'Name of the tracing project.' })
  modelId: string;

  @TextField({
    description: 'Address of the OTLP endpoint; other regions have their own.',
    allowEmpty: true,
    default: 'https://otlp.arize.com',
  })
  baseUrl = 'https://otlp.arize.com';
}

export const arize: DestinationKind = {
  type: 'arize',
  neutralType: 'kind_01',
  platform: 'Arize AX',
  configClass: ArizeConfig,
  example: { apiKey: 'ak-0123456789abcdef', spaceKey: 'U3BhY2U6MTIzNDU2Nzg=', modelId: 'my-project' },
};
