// New Relic: OTLP traces.
import { ChoiceField, TextField } from './shared/config-fields.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { ParentSpansField } from './shared/parent-spans.js';
import type { ParentSpans } from './shared/parent-spans.js';
import { GENERIC_CHAT_SPAN, GENERIC_SPAN } from './otlp/generic-span.js';
import { OTLP_LIMITS } from './otlp/limits.js';
import { otlpDelivery } from './otlp/otlp-delivery.js';
import type { SpanBounds } from './otlp/span.js';

export class NewrelicConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = ['content-type', 'api-key'];

  @TextField({ description: 'Ingest license key.', secret: 'masked', header: 'as it is' })
  licenseKey: string;

  @ChoiceField({ description: 'Data centre of the account.', values: ['us', 'eu'], default: 'us' })
  region: 'us' | 'eu' = 'us';

  @ParentSpansField('link')
  parentSpans: ParentSpans = 'link';
}

const ADDRESSES = {
  us: 'https://otlp.nr-data.net/v1/traces',
  eu: 'https://otlp.eu01.nr-data.net/v1/traces',
} as const;

const MAX_VALUE_LENGTH = 4095;

// The platform drops longer values and further attributes. Cutting here keeps the content valid JSON.
const bounds: SpanBounds = {
  maxAttributes: 64,
  maxNameLength: 255,
  maxValueLength: MAX_VALUE_LENGTH,
  maxArrayLength: 64,
  maxInputLength: MAX_VALUE_LENGTH,
};

export const newrelic: DestinationKind<NewrelicConfig> = {
  type: 'newrelic',
  neutralType: 'kind_08',
  platform: 'New Relic',
  configClass: NewrelicConfig,
  delivery: otlpDelivery({
    // New Relic counts a megabyte as 10^6 bytes.
    limits: { ...OTLP_LIMITS, maxTraces: 200, maxBytes: 1_000_000 },
    spans: { embeddings: { ...GENERIC_SPAN, bounds }, chat: { ...GENERIC_CHAT_SPAN, bounds } },
    url: ({ region }) => ADDRESSES[region],
    headers: ({ licenseKey }) => ({ 'api-key': licenseKey }),
    // Responses have no body: the platform validates data later.
    answers: { hasPartialSuccess: false },
  }),
  example: { licenseKey: '0123456789abcdef0123456789abcdefFFFFNRAL' },
};
