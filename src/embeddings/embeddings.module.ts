// Embeddings: from a request to vectors, with its cost and its record.
import { Module } from '@nestjs/common';
import { GenerationEventsModule } from '../deliveries/generation-events.module.js';
import { RoutingModule } from '../routing/routing.module.js';
import { SpendModule } from '../spend/spend.module.js';
import { EmbeddingCacheMetrics, EmbeddingCache } from './cache/embedding-cache.js';
import { PartialResults } from './cache/partial-results.js';
import { EmbeddingRuns } from './embedding-run.js';
import { EmbeddingsResponder } from './embeddings-responder.js';
import { EmbeddingsController } from './embeddings.controller.js';
import { EmbeddingsService } from './embeddings.service.js';

@Module({
  imports: [GenerationEventsModule, RoutingModule, SpendModule],
  controllers: [EmbeddingsController],
  providers: [
    EmbeddingsResponder,
    EmbeddingsService,
    EmbeddingRuns,
    EmbeddingCache,
    EmbeddingCacheMetrics,
    PartialResults,
  ],
  exports: [EmbeddingsResponder],
})
export class EmbeddingsModule {}
