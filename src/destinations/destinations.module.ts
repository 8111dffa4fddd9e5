// Observability destinations: the platforms that receive a workspace's generations.
import { Module } from '@nestjs/common';
import { GenerationEventsModule } from '../deliveries/generation-events.module.js';
import { DeliveriesController } from './deliveries.controller.js';
import { DeliveriesService } from './deliveries.service.js';
import { DestinationsController } from './destinations.controller.js';
import { DestinationsService } from './destinations.service.js';
import { SelectionPreview } from './selection-preview.js';
import { WorkspaceDeliveriesController } from './workspace-deliveries.controller.js';

@Module({
  imports: [GenerationEventsModule],
  controllers: [WorkspaceDeliveriesController, DestinationsController, DeliveriesController],
  providers: [DestinationsService, DeliveriesService, SelectionPreview],
})
export class DestinationsModule {}
