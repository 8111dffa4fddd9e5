import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { RoutingModule } from '../routing/routing.module.js';
import { FilterTrials } from './filter-trials.js';
import { GuardrailAssignmentsController } from './guardrail-assignments.controller.js';
import { GuardrailAssignmentsService } from './guardrail-assignments.service.js';
import { GuardrailsController } from './guardrails.controller.js';
import { GuardrailsService } from './guardrails.service.js';

@Module({
  imports: [AuthModule, RoutingModule],
  controllers: [GuardrailsController, GuardrailAssignmentsController],
  providers: [FilterTrials, GuardrailsService, GuardrailAssignmentsService],
})
export class GuardrailsModule {}
