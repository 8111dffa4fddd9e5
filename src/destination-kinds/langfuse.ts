// Langfuse: OTLP traces with langfuse attributes.
import type { GenerationTrace } from '../domain/generations/generation-trace.js';
import { TextField } from './shared/config-fields.js';
import { basicAuthorization, isSuccess } from './shared/delivery-outcome.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { ParentSpansField } from './shared/parent-spans.js';
import type { ParentSpans } from './shared/parent-spans.js';
import { tracesAddress } from './otlp/address.js';
import { flag, jsonText, text, texts } from './otlp/any-value.js';
import { GEN_AI_ATTRIBUTES, inputValue, levelOf, modelParameters, tagsOf } from './otlp/attributes.js';
import { OTLP_LIMITS } from './otlp/limits.js';
import { otlpDelivery } from './otlp/otlp-delivery.js';
import type { SpanForm } from './otlp/span.js';
import { bareModelName, errorText, outputSummary } from './shared/trace-json.js';

export class LangfuseConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = ['content-type', 'authorization', 'x-langfuse-ingestion-version'];

  @TextField({ description: 'Secret key of the project.', secret: 'masked' })
  secretKey: string;

  @TextField({ description: 'Public key of the project.', secret: 'masked' })
  publicKey: string;

  @TextField({
    description: 'Address of the region or of a self-hosted server.',
    address: 'public',
    allowEmpty: true,
    default: 'https://us.cloud.langfuse.com',
  })
  baseUrl = 'https://us.cloud.langfuse.com';

  @ParentSpansField('root')
  parentSpans: ParentSpans = 'root';
}

// This version shows traces immediately. The server refuses numbers that it does not know.
const INGESTION_VERSION = '4';

// The names that an environment may have on the platform.
const ENVIRONMENT = /^(?!langfuse)[a-z0-9_-]{1,40}$/;

// The platform's own names take precedence over the common ones and fill their columns.
const SPAN: SpanForm = {
  attributes: {
    ...GEN_AI_ATTRIBUTES,
    'langfuse.observation.type': () => text('embedding'),
    // The platform's prices are filed under the bare name; `gen_ai.request.model` has the whole one.
    'langfuse.observation.model.name': (trace) => text(bareModelName(trace)),
    'langfuse.observation.model.parameters': (trace) => text(modelParameters(trace)),
    'langfuse.observation.input': inputValue,
    'langfuse.observation.output': (trace) => jsonText(outputSummary(trace)),
    'langfuse.observation.usage_details': ({ promptTokens, totalTokens }) =>
      jsonText({ input: promptTokens, total: totalTokens }),
    'langfuse.observation.cost_details': ({ cost }) =>
      jsonText(cost === null ? null : { input: cost, total: cost }),
    'langfuse.observation.level': (trace) => text(levelOf(trace)),
    'langfuse.observation.status_message': (trace) => text(errorText(trace) ?? null),
    // Tables of this ingestion version do not fall back to the name of the span.
    'langfuse.trace.name': ({ traceName, spanName }) => text(traceName ?? spanName),
    'langfuse.trace.tags': (trace) => texts(tagsOf(trace)),
    'langfuse.user.id': ({ userId }) => text(userId),
    'langfuse.session.id': ({ sessionId }) => text(sessionId),
    'langfuse.environment': (trace) => text(ownKey(trace, 'environment', ENVIRONMENT)),
    'langfuse.release': (trace) => text(ownKey(trace, 'release', /^/)),
  },
  metadata: { caller: 'langfuse.trace.metadata.', own: 'langfuse.observation.metadata.' },
  hasEvents: true,
  // A trace shows the input and the output of its root.
  root: { attributes: { 'langfuse.internal.is_app_root': () => flag(true) } },
};

/** Returns a caller's key for which the platform has a field, if the value fits the field. */
function ownKey({ metadata }: GenerationTrace, key: string, form: RegExp): string | null {
  const value = metadata[key];
  return typeof value === 'string' && form.test(value) ? value : null;
}

export const langfuse: DestinationKind<LangfuseConfig> = {
  type: 'langfuse',
  neutralType: 'kind_06',
  platform: 'Langfuse',
  configClass: LangfuseConfig,
  delivery: otlpDelivery({
    limits: { ...OTLP_LIMITS, maxBytes: 5_000_000 },
    span: SPAN,
    url: ({ baseUrl }) => tracesAddress(baseUrl, '/api/public/otel'),
    headers: ({ publicKey, secretKey }) => ({
      authorization: basicAuthorization(publicKey, secretKey),
      'x-langfuse-ingestion-version': INGESTION_VERSION,
    }),
    // The platform checks the keys first and accepts an empty request.
    test: { passes: isSuccess },
  }),
  example: { secretKey: 'sk-lf-0123456789abcdef', publicKey: 'pk-lf-0123456789abcdef' },
};
