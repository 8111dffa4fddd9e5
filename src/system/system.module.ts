import { Module } from '@nestjs/common';
import { RoutingModule } from '../routing/routing.module.js';
import { SystemController } from './system.controller.js';
import { SystemService } from './system.service.js';

@Module({ imports: [RoutingModule], controllers: [SystemController], providers: [SystemService] })
export class SystemModule {}
