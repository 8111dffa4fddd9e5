// Limits for OTLP platforms that publish none: batches that a collector accepts in its default settings.
import type { DeliveryLimits } from '../shared/delivery.js';

export const OTLP_LIMITS: DeliveryLimits = {
  maxTraces: 500,
  maxBytes: 4_000_000,
  linger: 200,
  timeout: 30_000,
};
