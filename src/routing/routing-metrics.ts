// Metrics and span attributes of provider calls: names of closed lists and numbers, never text of others.
import { Injectable } from '@nestjs/common';
import type { Attributes } from '@opentelemetry/api';
import { Counter, Gauge, Histogram } from 'prom-client';
import { Metrics } from '../config/metrics.js';
import type { GenerationAttempt } from '../domain/generations/generation.js';
import { PROVIDERS } from '../providers/index.js';
import type { Slice } from './call-splitter.js';
import type { ServingTarget } from './endpoint-target.js';

const OWNERS = ['operator', 'workspace'] as const;
// Seconds.
const DURATION_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

@Injectable()
export class RoutingMetrics {
  private readonly attempts;
  private readonly waiting;
  private readonly rejectedCredentials;

  constructor({ registry }: Metrics) {
    this.attempts = new Histogram({
      name: 'signalbox_upstream_attempt_duration_seconds',
      help: 'Duration of provider calls by outcome: ok, the kind of failure, or cancelled (another part of the call failed).',
      labelNames: ['provider', 'outcome'],
      buckets: DURATION_BUCKETS,
      registers: [registry],
    });
    this.waiting = new Gauge({
      name: 'signalbox_upstream_waiting',
      help: 'Provider calls, or parts of them, that wait for one of ENDPOINT_CONCURRENCY permits.',
      labelNames: ['provider'],
      registers: [registry],
    });
    this.rejectedCredentials = new Counter({
      name: 'signalbox_upstream_refused_credentials_total',
      help: 'Credentials that a provider rejected (401, 402, 403), by owner: operator or workspace. They rest since then.',
      labelNames: ['provider', 'owner'],
      registers: [registry],
    });
    // Every series starts at 0: Prometheus sees no increase in a series that begins with its first event.
    for (const { slug: provider } of PROVIDERS) {
      this.waiting.set({ provider }, 0);
      for (const owner of OWNERS) this.rejectedCredentials.inc({ provider, owner }, 0);
    }
  }

  attempted({ provider, errorType, durationMs }: GenerationAttempt): void {
    this.attempts.observe({ provider, outcome: errorType ?? 'ok' }, durationMs / 1_000);
  }

  credentialRejected({ provider, credential }: ServingTarget): void {
    this.rejectedCredentials.inc({
      provider: provider.slug,
      owner: credential === null ? 'operator' : 'workspace',
    });
  }

  /** Returns the function that ends the wait. */
  waits(provider: string): () => void {
    this.waiting.inc({ provider });
    return () => this.waiting.dec({ provider });
  }
}

/** In the names of OpenTelemetry's semantic conventions, where they exist. */
export function describeAttempt(
  operation: 'embeddings' | 'rerank',
  { provider, endpoint, status, errorType }: GenerationAttempt,
  { model, credential }: ServingTarget,
  { input }: Slice,
): Attributes {
  return {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model.id,
    'signalbox.endpoint': endpoint,
    'signalbox.inputs': input.items.length,
    'signalbox.is_byok': credential !== null,
    ...(status === null ? {} : { 'http.response.status_code': status }),
    ...(errorType === null ? {} : { 'error.type': errorType }),
  };
}
