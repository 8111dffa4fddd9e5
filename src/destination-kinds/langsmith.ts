// LangSmith: OTLP traces with langsmith attributes.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

export class LangsmithConfig extends BaseDestinationConfig {
  @TextField({ description: 'API key of the platform.', secret: 'masked' })
  apiKey: string;

  @TextField({
    description: 'Address of the API.',
    allowEmpty: true,
    default: 'https://api.smith.langchain.com',
  })
  endpoint = 'https://api.smith.langchain.com';

  @TextField({ description: 'Name of the project.', default: 'main' })
  project = 'main';

  @TextField({
    description: 'Id of the workspace; needed with organization-scoped keys.',
    optional: true,
    allowEmpty: true,
  })
  workspaceId?: string;
}

export const langsmith: DestinationKind = {
  type: 'langsmith',
  neutralType: 'kind_07',
  platform: 'LangSmith',
  configClass: LangsmithConfig,
  example: { apiKey: 'lsv2_pt_0123456789abcdef' },
};
