// Langfuse: OTLP traces with langfuse attributes.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

export class LangfuseConfig extends BaseDestinationConfig {
  @TextField({ description: 'Secret key of the project.', secret: 'masked' })
  secretKey: string;

  @TextField({ description: 'Public key of the project.', secret: 'masked' })
  publicKey: string;

  @TextField({
    description: 'Address of the region or of a self-hosted server.',
    allowEmpty: true,
    default: 'https://us.cloud.langfuse.com',
  })
  baseUrl = 'https://us.cloud.langfuse.com';
}

export const langfuse: DestinationKind = {
  type: 'langfuse',
  neutralType: 'kind_06',
  platform: 'Langfuse',
  configClass: LangfuseConfig,
  example: { secretKey: 'sk-lf-0123456789abcdef', publicKey: 'pk-lf-0123456789abcdef' },
};
