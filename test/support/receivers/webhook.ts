// A customer's own handler, written as the pages on webhooks describe.
import { otlpReceiver } from './otlp-receiver.js';

const ORIGIN = 'https://hooks.example.com';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const webhookReceiver = otlpReceiver({
  type: 'webhook',
  config: { url: `${ORIGIN}/traces/?source=gateway`, method: 'PUT' },
  origin: ORIGIN,
  addressField: 'url',
  path: '/traces/?source=gateway',
  method: 'PUT',
  isAuthorized: (headers) =>
    UUID.test(String(headers['webhook-id'])) && /^\d{10}$/.test(String(headers['webhook-timestamp'])),
  maxBytes: 1_048_576,
  success: { status: 204 },
  partial: null,
});
