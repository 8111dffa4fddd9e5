// LangSmith: OTLP traces with langsmith attributes.
import { TextField } from './shared/config-fields.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { tracesAddress } from './otlp/address.js';
import { text } from './otlp/any-value.js';
import { GEN_AI_ATTRIBUTES, OLDER_ATTRIBUTES, inputValue, tagsOf } from './otlp/attributes.js';
import { OTLP_LIMITS } from './otlp/limits.js';
import { otlpDelivery } from './otlp/otlp-delivery.js';
import type { SpanForm } from './otlp/span.js';
import { uuidOfTrace } from './shared/trace-json.js';

export class LangsmithConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = ['content-type', 'x-api-key', 'langsmith-project', 'x-tenant-id'];

  @TextField({ description: 'API key of the platform.', secret: 'masked', header: 'as it is' })
  apiKey: string;

  @TextField({
    description: 'Address of the API.',
    address: 'public',
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
    header: 'as it is',
  })
  workspaceId?: string;
}

const SPAN: SpanForm = {
  attributes: {
    ...GEN_AI_ATTRIBUTES,
    ...OLDER_ATTRIBUTES,
    'gen_ai.prompt': inputValue,
    'langsmith.span.kind': () => text('embedding'),
    // The run id: a repeated delivery updates the same run.
    'langsmith.span.id': (trace) => text(uuidOfTrace(trace)),
    'langsmith.trace.name': ({ traceName }) => text(traceName),
    'langsmith.span.tags': (trace) => text(tagsOf(trace).join(',') || null),
    // This key groups runs into threads. `langsmith.trace.session_id` would name a project instead.
    'langsmith.metadata.session_id': ({ sessionId }) => text(sessionId),
    'langsmith.metadata.user_id': ({ userId }) => text(userId),
  },
  metadata: { caller: 'langsmith.metadata.', own: 'langsmith.metadata.' },
  hasEvents: true,
};

// The receiver misreads bytes beyond ASCII in headers, and control characters cannot be sent.
const HELD_BY_HEADER = /^[\x20-\x7e]*$/;

export const langsmith: DestinationKind<LangsmithConfig> = {
  type: 'langsmith',
  neutralType: 'kind_07',
  platform: 'LangSmith',
  configClass: LangsmithConfig,
  delivery: otlpDelivery({
    limits: OTLP_LIMITS,
    span: SPAN,
    attributes: ({ project }) =>
      HELD_BY_HEADER.test(project)
        ? []
        : [{ key: 'langsmith.trace.session_name', value: { stringValue: project } }],
    url: ({ endpoint }) => tracesAddress(endpoint, '/otel'),
    headers: ({ apiKey, project, workspaceId }) => ({
      'x-api-key': apiKey,
      ...(HELD_BY_HEADER.test(project) ? { 'langsmith-project': project } : {}),
      ...(workspaceId ? { 'x-tenant-id': workspaceId } : {}),
    }),
  }),
  example: { apiKey: 'lsv2_pt_0123456789abcdef' },
};
