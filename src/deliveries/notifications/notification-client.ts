// Sends one notification to the receiver of its rule.
import { Injectable } from '@nestjs/common';
import { parseConfig } from '../../destination-kinds/shared/destination-kind.js';
import { Clock } from '../../domain/clock.js';
import type { NotificationRule } from '../../domain/notifications/notification-rule.js';
import { PlatformClient } from '../batches/platform-client.js';
import type { FinalOutcome } from '../batches/platform-client.js';
import { NOTIFICATION_WEBHOOK, notificationRequest } from './notification-webhook.js';
import type { NotificationWebhookConfig } from './notification-webhook.js';

@Injectable()
export class NotificationClient {
  constructor(
    private readonly client: PlatformClient,
    private readonly clock: Clock,
  ) {}

  /** A reason has no words of the receiver. Throws UnusableConfig. */
  async send(
    rule: Pick<NotificationRule, 'id' | 'accountId' | 'config'>,
    event: { readonly id: string; readonly body: string },
    signal: AbortSignal,
  ): Promise<FinalOutcome> {
    const config = parseConfig(NOTIFICATION_WEBHOOK, rule.config) as NotificationWebhookConfig;
    const request = notificationRequest(config, event, { now: this.clock.now() });
    const destination = { id: rule.id, accountId: rule.accountId, privacyMode: true };
    return this.client.deliver({ destination, kind: NOTIFICATION_WEBHOOK, config }, request, signal);
  }
}
