// Rerank: documents in the order of their relevance to a query, with its cost and its record.
import { Module } from '@nestjs/common';
import { GenerationEventsModule } from '../deliveries/generation-events.module.js';
import { RoutingModule } from '../routing/routing.module.js';
import { SpendModule } from '../spend/spend.module.js';
import { RerankResponder } from './rerank-responder.js';
import { RerankRuns } from './rerank-run.js';
import { RerankController } from './rerank.controller.js';
import { RerankService } from './rerank.service.js';

@Module({
  imports: [GenerationEventsModule, RoutingModule, SpendModule],
  controllers: [RerankController],
  providers: [RerankResponder, RerankService, RerankRuns],
  exports: [RerankResponder],
})
export class RerankModule {}
