import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { RoutingModule } from '../routing/routing.module.js';
import { EndpointsController } from './endpoints.controller.js';
import { ModelsController } from './models.controller.js';
import { ModelsService } from './models.service.js';
import { ProviderTestService } from './provider-test.service.js';

@Module({
  imports: [AuthModule, RoutingModule],
  controllers: [ModelsController, EndpointsController],
  providers: [ModelsService, ProviderTestService],
})
export class ModelsModule {}
