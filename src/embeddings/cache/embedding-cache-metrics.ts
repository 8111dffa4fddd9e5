// Metrics of the embedding cache.
import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Metrics } from '../../config/metrics.js';

@Injectable()
export class EmbeddingCacheMetrics {
  private readonly inputs;

  constructor({ registry }: Metrics) {
    this.inputs = new Counter({
      name: 'signalbox_embedding_cache_inputs_total',
      help: 'Inputs of answered calls that use the cache, by whether a provider was called for them (miss) or not (hit).',
      labelNames: ['outcome'],
      registers: [registry],
    });
  }

  answered(vectors: readonly { readonly isCached: boolean }[]): void {
    const hits = vectors.filter(({ isCached }) => isCached).length;
    this.inputs.inc({ outcome: 'hit' }, hits);
    this.inputs.inc({ outcome: 'miss' }, vectors.length - hits);
  }
}
