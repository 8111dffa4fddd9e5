// What Prometheus is told of the embeddings cache.
import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Metrics } from '../../config/metrics.js';

@Injectable()
export class EmbeddingCacheMetrics {
  private readonly inputs;

  constructor({ registry }: Metrics) {
    this.inputs = new Counter({
      name: 'signalbox_embedding_cache_inputs_total',
      help: 'Inputs of answered calls that use the cache: those that no provider was asked for, and the others.',
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
