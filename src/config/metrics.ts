// The registry that every room adds its metrics to, and that /metrics shows.
import { Registry } from 'prom-client';

/** One of each application, so that two of them in one process do not mix. */
export class Metrics {
  readonly registry = new Registry();
}
