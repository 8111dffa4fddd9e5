import { Module } from '@nestjs/common';
import { RoutingModule } from '../routing/routing.module.js';
import { ModelsController } from './models.controller.js';
import { ModelsService } from './models.service.js';

@Module({ imports: [RoutingModule], controllers: [ModelsController], providers: [ModelsService] })
export class ModelsModule {}
