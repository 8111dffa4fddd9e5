// The receiver of notifications: an HTTP endpoint of the customer, with the config rules of destinations. Requests are
// signed as Standard Webhooks 1.0.0 specifies.
import { TextField } from '../../destination-kinds/shared/config-fields.js';
import type {
  DeliveryContext,
  DeliveryRequest,
  KindDelivery,
} from '../../destination-kinds/shared/delivery.js';
import { isPassing, outcomeOfStatus, withScheme } from '../../destination-kinds/shared/delivery-outcome.js';
import { BaseDestinationConfig } from '../../destination-kinds/shared/destination-kind.js';
import type { ConfigKind } from '../../destination-kinds/shared/destination-kind.js';
import { webhook, WebhookConfig } from '../../destination-kinds/webhook.js';

export class NotificationWebhookConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = WebhookConfig.ownHeaders;

  @TextField({
    description: 'Address that receives the events. Its path and query are shown masked.',
    address: 'secret',
    example: 'https://example.com/alerts',
  })
  url: string;
}

type NotificationDelivery = Pick<KindDelivery<NotificationWebhookConfig>, 'limits' | 'addresses' | 'read'>;

export const NOTIFICATION_WEBHOOK: ConfigKind & { readonly delivery: NotificationDelivery } = {
  type: 'notification',
  configClass: NotificationWebhookConfig,
  delivery: {
    limits: { ...webhook.delivery.limits, timeout: 10_000 },
    addresses: ({ url }: NotificationWebhookConfig) => [withScheme(url)],
    // A receiver that is busy with the same event answers 409.
    read: (response, _request, _config, context) =>
      outcomeOfStatus(response, context, { retried: (status) => status === 409 || isPassing(status) }),
  },
};

/** `id` lets the receiver discard a repeated event. */
export function notificationRequest(
  { url }: NotificationWebhookConfig,
  { id, body }: { readonly id: string; readonly body: string },
  { now }: Pick<DeliveryContext, 'now'>,
): DeliveryRequest {
  return {
    method: 'POST',
    url: withScheme(url),
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    },
    body,
  };
}
