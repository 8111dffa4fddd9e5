import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { WorkspaceBudgetsController } from './workspace-budgets.controller.js';
import { WorkspaceBudgetsService } from './workspace-budgets.service.js';
import { WorkspaceMembersService } from './workspace-members.service.js';
import { WorkspacesController } from './workspaces.controller.js';
import { WorkspacesService } from './workspaces.service.js';

@Module({
  imports: [AuthModule],
  controllers: [WorkspacesController, WorkspaceBudgetsController],
  providers: [WorkspacesService, WorkspaceBudgetsService, WorkspaceMembersService],
})
export class WorkspacesModule {}
