// Signs deliveries as Standard Webhooks 1.0.0 specifies, so that a receiver can verify the sender. Each destination's
// secret is derived from the encryption keys: no secret is stored, and no receiver knows another's.
import { createHmac, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AppConfig } from '../../config/app-config.js';
import type { DeliveryRequest } from '../../destination-kinds/shared/delivery.js';

const PURPOSE = 'signalbox webhook signature';
const SECRET_BYTES = 32;
// Destinations whose derived keys are cached. Beyond it the oldest are derived again.
const MAX_KEPT = 1_000;
// Standard Webhooks marks secrets with this prefix.
const SECRET_PREFIX = 'whsec_';

@Injectable()
export class WebhookSignatures {
  /** By the destinations' ids. */
  private readonly keys = new LRUCache<string, readonly Buffer[]>({
    max: MAX_KEPT,
    memoMethod: (destinationId) => this.deriveKeys(destinationId),
  });

  constructor(private readonly config: AppConfig) {}

  /** The secret for the receiver: `whsec_` and base64. It changes with the first encryption key. */
  secretOf(destinationId: string): string {
    const [current = Buffer.alloc(0)] = this.keys.memo(destinationId);
    return SECRET_PREFIX + current.toString('base64');
  }

  /** Signs requests that carry an id and a time, once with each encryption key, so that keys can rotate. */
  headersFor(
    destinationId: string,
    { headers, body = '' }: DeliveryRequest,
  ): Readonly<Record<string, string>> {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers;
    if (id === undefined || timestamp === undefined) return {};
    const signatures = this.keys.memo(destinationId).map((key) => {
      const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
      return `v1,${signature}`;
    });
    return { 'webhook-signature': signatures.join(' ') };
  }

  private deriveKeys(destinationId: string): readonly Buffer[] {
    return this.config.encryptionKeys.map(({ bytes }) =>
      Buffer.from(hkdfSync('sha256', bytes, destinationId, PURPOSE, SECRET_BYTES)),
    );
  }
}
