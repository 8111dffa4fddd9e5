// Any HTTP endpoint: OTLP JSON by POST or PUT.
import { ChoiceField, TextField } from './shared/config-fields.js';
import type { DeliveryContext } from './shared/delivery.js';
import { batchIdOf, isPassing, probeIdOf, withScheme } from './shared/delivery-outcome.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { ParentSpansField } from './shared/parent-spans.js';
import type { ParentSpans } from './shared/parent-spans.js';
import { GENERIC_CHAT_SPAN, GENERIC_SPANS } from './otlp/generic-span.js';
import { OTLP_LIMITS } from './otlp/limits.js';
import { otlpDelivery } from './otlp/otlp-delivery.js';
import { WIDE_BOUNDS } from './otlp/span.js';

export class WebhookConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = [
    'content-type',
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
    'x-test-connection',
  ];

  @TextField({
    description: 'Address that receives the traces. Its path and query are shown masked.',
    address: 'secret',
    allowEmpty: true,
  })
  url: string;

  @ChoiceField({ description: 'HTTP method.', values: ['POST', 'PUT'], default: 'POST' })
  method: 'POST' | 'PUT' = 'POST';

  @ParentSpansField('link')
  parentSpans: ParentSpans = 'link';
}

/** The headers that the sender signs, as Standard Webhooks names them. */
function signable(id: string, { now }: DeliveryContext): Readonly<Record<string, string>> {
  return { 'webhook-id': id, 'webhook-timestamp': String(Math.floor(now.getTime() / 1000)) };
}

export const webhook: DestinationKind<WebhookConfig> = {
  type: 'webhook',
  neutralType: null,
  platform: 'Webhook',
  configClass: WebhookConfig,
  delivery: otlpDelivery({
    // Receivers are hand-written: requests are small.
    limits: { ...OTLP_LIMITS, maxTraces: 100, maxBytes: 1_048_576 },
    // Six texts of a chat fit into one request.
    spans: {
      ...GENERIC_SPANS,
      chat: { ...GENERIC_CHAT_SPAN, bounds: { ...WIDE_BOUNDS, maxInputLength: 49_152 } },
    },
    method: ({ method }) => method,
    url: ({ url }) => withScheme(url),
    // Credentials, if a receiver needs them, are among the config's custom headers.
    headers: () => ({}),
    // The id lets a receiver discard a repeated batch.
    batchHeaders: (traces, context) => signable(batchIdOf(context.destinationId, traces), context),
    answers: {
      // A receiver that is busy with the same batch answers 409.
      rules: { retried: (status) => status === 409 || isPassing(status) },
      hasPartialSuccess: false,
    },
    // Signed as well: a receiver that verifies signatures would refuse it otherwise.
    test: {
      headers: (context) => ({
        'x-test-connection': 'true',
        ...signable(probeIdOf(context, 'test'), context),
      }),
    },
  }),
  example: { url: 'https://example.com/traces' },
};
