// Embeddings: from a request to vectors, with its cost and its record.
import { Module } from '@nestjs/common';
import { RoutingModule } from '../routing/routing.module.js';
import { SpendModule } from '../spend/spend.module.js';
import { EmbeddingsController } from './embeddings.controller.js';
import { EmbeddingsService } from './embeddings.service.js';

@Module({
  imports: [RoutingModule, SpendModule],
  controllers: [EmbeddingsController],
  providers: [EmbeddingsService],
})
export class EmbeddingsModule {}
