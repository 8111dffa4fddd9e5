import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { RoutingModule } from '../routing/routing.module.js';
import { SystemController } from './system.controller.js';
import { SystemService } from './system.service.js';

@Module({
  imports: [AuthModule, RoutingModule],
  controllers: [SystemController],
  providers: [SystemService],
})
export class SystemModule {}
