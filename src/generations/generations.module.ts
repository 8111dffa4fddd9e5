import { Module } from '@nestjs/common';
import { RoutingModule } from '../routing/routing.module.js';
import { GenerationDeliveriesService } from './generation-deliveries.service.js';
import { GenerationListController } from './generation-list.controller.js';
import { GenerationListService } from './generation-list.service.js';
import { GenerationsController } from './generations.controller.js';
import { GenerationsService } from './generations.service.js';

@Module({
  imports: [RoutingModule],
  controllers: [GenerationsController, GenerationListController],
  providers: [GenerationsService, GenerationListService, GenerationDeliveriesService],
})
export class GenerationsModule {}
