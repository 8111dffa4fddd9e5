// Sends one request to a platform, reads its answer, and follows up until the traces have a result.
import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { BaseDestinationConfig } from '../../destination-kinds/shared/destination-kind.js';
import { sendableHeaders } from '../../destination-kinds/shared/config-fields.js';
import { secretsOf } from '../../destination-kinds/shared/destination-kind.js';
import type {
  DeliveryOutcome,
  DeliveryRequest,
  DeliveryResponse,
  KindDelivery,
} from '../../destination-kinds/shared/delivery.js';
import { boundedText } from '../../domain/text/bounded-text.js';
import { Clock } from '../../domain/clock.js';
import { DestinationClient } from '../../outbound/destination-client.js';
import { OutboundFailure, OutboundRejected, OutboundTimeout } from '../../outbound/exchange/exchange.js';
import type { DeliveryTarget } from '../workspace-destinations.js';
import { WebhookSignatures } from './webhook-signatures.js';

/** The result of a request after all follow-ups. */
export type FinalOutcome = Exclude<DeliveryOutcome, { readonly outcome: 'continue' }> & {
  /** The last HTTP status; null when there was no answer. */
  readonly status: number | null;
};

// Follow-up requests to a platform that has no result yet. Beyond them the batch is retried.
const MAX_CONTINUATIONS = 60;
const MAX_REASON_LENGTH = 300;
// Shorter values are not secrets, and masking them would corrupt words.
const SHORTEST_SECRET = 8;
const MASK = '****';
// Headers without secrets. Any other header may hold one.
const PLAIN_HEADERS = new Set(['accept', 'content-type', 'host', 'user-agent', 'x-test-connection']);

/** The receiver of a request. */
export interface RequestTarget {
  readonly destination: Pick<DeliveryTarget['destination'], 'id' | 'accountId' | 'privacyMode'>;
  readonly kind: { readonly delivery: Pick<KindDelivery<BaseDestinationConfig>, 'limits' | 'read'> };
  readonly config: BaseDestinationConfig;
}

@Injectable()
export class PlatformClient {
  constructor(
    private readonly client: DestinationClient,
    private readonly signatures: WebhookSignatures,
    private readonly clock: Clock,
  ) {}

  async deliver(target: RequestTarget, request: DeliveryRequest, signal: AbortSignal): Promise<FinalOutcome> {
    const { destination, kind, config } = target;
    let next = request;
    for (let hop = 0; hop <= MAX_CONTINUATIONS; hop++) {
      const response = await this.send(target, next, signal);
      if ('outcome' in response) return response;
      const context = { destinationId: destination.id, now: this.clock.now() };
      const outcome = await kind.delivery.read(response, next, config, context);
      const { status } = response;
      if (outcome.outcome !== 'continue') {
        const { reason } = outcome;
        if (reason === undefined) return { ...outcome, status };
        // A platform may repeat the payload. Privacy mode keeps payloads out of the database.
        const shown = destination.privacyMode ? `HTTP ${status}` : withoutSecrets(reason, config, next);
        return { ...outcome, reason: shown, status };
      }
      await wait(outcome.delay, undefined, { signal, ref: false });
      next = outcome.request;
    }
    return { outcome: 'retry', reason: 'the platform did not report a result in time', status: null };
  }

  /** Returns the answer, or the outcome of a request without one. */
  async send(
    {
      destination,
      kind,
      config,
    }: Pick<RequestTarget, 'kind' | 'config'> & {
      readonly destination: Omit<RequestTarget['destination'], 'privacyMode'>;
    },
    request: DeliveryRequest,
    signal: AbortSignal,
  ): Promise<DeliveryResponse | FinalOutcome> {
    try {
      return await this.client.send(
        {
          ...request,
          headers: {
            ...headersOf(request, config),
            ...this.signatures.headersFor(destination.id, request),
          },
        },
        { timeout: kind.delivery.limits.timeout, signal, accountId: destination.accountId },
      );
    } catch (error) {
      if (error instanceof OutboundRejected)
        return { outcome: 'blocked', reason: error.message, status: null };
      if (error instanceof OutboundTimeout || error instanceof OutboundFailure) {
        return { outcome: 'retry', reason: error.message, status: null };
      }
      throw error;
    }
  }
}

/** Headers of the kind override custom headers: another content type, id or credential would break the request. */
function headersOf(
  request: DeliveryRequest,
  config: BaseDestinationConfig,
): Readonly<Record<string, string>> {
  return { 'user-agent': 'signalbox', ...sendableHeaders(config.headers), ...request.headers };
}

/** Masks secrets: a platform may repeat a rejected credential, as a whole or as the part that a header carries. */
export function withoutSecrets(
  reason: string,
  config: BaseDestinationConfig,
  { headers }: Pick<DeliveryRequest, 'headers'>,
): string {
  const secrets = Object.entries(headers)
    .filter(([name]) => !PLAIN_HEADERS.has(name))
    .map(([, value]) => value);
  const parts = secrets.flatMap((value) => value.split(/[\s=,]+/));
  const longestFirst = [...secretsOf(config), ...secrets, ...parts].toSorted(
    (one, other) => other.length - one.length,
  );
  let text = reason;
  for (const secret of longestFirst) {
    if (secret.length >= SHORTEST_SECRET) text = withoutBeginning(text.replaceAll(secret, MASK), secret);
  }
  return boundedText(text, MAX_REASON_LENGTH);
}

/** A quoted answer is cut, and may end within a secret. */
function withoutBeginning(text: string, secret: string): string {
  for (let length = Math.min(secret.length - 1, text.length); length >= SHORTEST_SECRET; length--) {
    if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + MASK;
  }
  return text;
}
