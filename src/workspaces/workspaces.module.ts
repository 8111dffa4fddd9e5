import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { OwnKeyPoliciesController } from './own-key-policies.controller.js';
import { OwnKeyPoliciesService } from './own-key-policies.service.js';
import { WorkspaceBudgetsController } from './workspace-budgets.controller.js';
import { WorkspaceBudgetsService } from './workspace-budgets.service.js';
import { WorkspaceMembersService } from './workspace-members.service.js';
import { WorkspacesController } from './workspaces.controller.js';
import { WorkspacesService } from './workspaces.service.js';

@Module({
  imports: [AuthModule],
  controllers: [WorkspacesController, WorkspaceBudgetsController, OwnKeyPoliciesController],
  providers: [OwnKeyPoliciesService, WorkspacesService, WorkspaceBudgetsService, WorkspaceMembersService],
})
export class WorkspacesModule {}
