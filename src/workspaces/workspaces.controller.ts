// The routes of workspaces and their members.
import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import type { Actor } from '../domain/audit.js';
import { dataOf, DeletedDto, pageOf } from '../http/openapi/envelopes.js';
import type { Data, Page } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { ConditionalGet } from '../http/server/conditional-get.js';
import { PageQueryDto } from '../http/dto/page-query.dto.js';
import {
  CreateWorkspaceDto,
  DeleteWorkspaceQueryDto,
  UpdateWorkspaceDto,
} from './dto/workspace-bodies.dto.js';
import {
  AddMembersDto,
  MembersAddedDto,
  MembersRemovedDto,
  RemoveMembersDto,
  toWorkspaceMemberDto,
  WorkspaceMemberDto,
} from './dto/workspace-member.dto.js';
import {
  ListedWorkspaceDto,
  toListedWorkspaceDto,
  toWorkspaceDto,
  WorkspaceDto,
} from './dto/workspace.dto.js';
import { WorkspaceMembersService } from './workspace-members.service.js';
import { WorkspacesService } from './workspaces.service.js';

const WorkspaceParam = (): MethodDecorator =>
  ApiParam({ name: 'id', description: 'Id or slug of the workspace.', example: 'production' });

@ApiTags('Workspaces')
@ApiBearerAuth()
@Controller('workspaces')
export class WorkspacesController {
  constructor(
    private readonly workspaces: WorkspacesService,
    private readonly members: WorkspaceMembersService,
  ) {}

  @Get()
  @ConditionalGet()
  @ManagementOnly()
  @NeedsRight('workspaces.read')
  @Operation({
    id: 'listWorkspaces',
    summary: 'List workspaces',
    description:
      'The workspaces of the account, with what each has spent, its budgets and its refused calls.',
    answer: pageOf(ListedWorkspaceDto, { name: 'WorkspacesResponseDto', description: 'The oldest first.' }),
  })
  async list(
    @CurrentManager() manager: Manager,
    @Query() page: PageQueryDto,
  ): Promise<Page<ListedWorkspaceDto>> {
    const { items, total } = await this.workspaces.list(manager, page);
    return { data: items.map(toListedWorkspaceDto), total_count: total };
  }

  @Post()
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('workspaces.create')
  @Operation({
    id: 'createWorkspace',
    summary: 'Create a workspace',
    description: 'Responds 409 beyond the workspace limit of the account. Deleted workspaces do not count.',
    status: 201,
    answer: dataOf(WorkspaceDto),
    errors: [409],
  })
  async create(@CurrentActor() actor: Actor, @Body() body: CreateWorkspaceDto): Promise<Data<WorkspaceDto>> {
    return { data: toWorkspaceDto(await this.workspaces.create(actor, body)) };
  }

  @Get(':id')
  @ManagementOnly()
  @NeedsRight('workspaces.read')
  @Operation({
    id: 'getWorkspace',
    summary: 'Get a workspace',
    description: 'The settings of a workspace, by id or slug.',
    answer: dataOf(WorkspaceDto),
  })
  @WorkspaceParam()
  async get(@CurrentManager() manager: Manager, @Param('id') id: string): Promise<Data<WorkspaceDto>> {
    return { data: toWorkspaceDto(await this.workspaces.get(manager, id)) };
  }

  @Patch(':id')
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('workspaces.change')
  @Operation({
    id: 'updateWorkspace',
    summary: 'Update a workspace',
    description: 'Partial update: omitted members keep their value.',
    answer: dataOf(WorkspaceDto),
  })
  @WorkspaceParam()
  async update(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: UpdateWorkspaceDto,
  ): Promise<Data<WorkspaceDto>> {
    return { data: toWorkspaceDto(await this.workspaces.update(actor, id, body)) };
  }

  @Delete(':id')
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('workspaces.create')
  @Operation({
    id: 'deleteWorkspace',
    summary: 'Delete a workspace',
    description:
      'Disables its destinations and deletes its budgets and provider credentials. Responds 400 while it has API keys.',
    answer: DeletedDto,
  })
  @WorkspaceParam()
  async delete(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Query() query: DeleteWorkspaceQueryDto,
  ): Promise<DeletedDto> {
    await this.workspaces.delete(actor, id, query.confirm_default_workspace_deletion === 'true');
    return { deleted: true };
  }

  @Get(':id/members')
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('members.read')
  @Operation({
    id: 'listWorkspaceMembers',
    summary: 'List the members of a workspace',
    description: 'The users of a workspace with their roles.',
    answer: pageOf(WorkspaceMemberDto),
  })
  @WorkspaceParam()
  async listMembers(
    @CurrentManager() manager: Manager,
    @Param('id') id: string,
    @Query() page: PageQueryDto,
  ): Promise<Page<WorkspaceMemberDto>> {
    const { items, total } = await this.members.list(manager, id, page);
    return { data: items.map(toWorkspaceMemberDto), total_count: total };
  }

  @Post(':id/members/add')
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('members.change')
  @Operation({
    id: 'bulkAddWorkspaceMembers',
    summary: 'Add members to a workspace',
    description:
      'Responds 409 and adds no member when the request would exceed the member limit of the workspace.',
    answer: MembersAddedDto,
    errors: [409],
  })
  @WorkspaceParam()
  async addMembers(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: AddMembersDto,
  ): Promise<MembersAddedDto> {
    const added = await this.members.add(actor, id, body);
    return { added_count: added.length, data: added.map(toWorkspaceMemberDto) };
  }

  @Post(':id/members/remove')
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('members.change')
  @Operation({
    id: 'bulkRemoveWorkspaceMembers',
    summary: 'Remove members from a workspace',
    description:
      'Responds 400 and removes no member when one of them created API keys that are still in the workspace.',
    answer: MembersRemovedDto,
  })
  @WorkspaceParam()
  async removeMembers(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: RemoveMembersDto,
  ): Promise<MembersRemovedDto> {
    return { removed_count: await this.members.remove(actor, id, body) };
  }
}
