// The routes of workspaces and their members.
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { CurrentActor, CurrentCaller, ManagementOnly } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import type { Actor } from '../domain/audit.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { ConditionalGet } from '../http/server/conditional-get.js';
import { DeletedDto } from '../http/dto/deleted.dto.js';
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
  WorkspaceMemberListDto,
} from './dto/workspace-member.dto.js';
import { toWorkspaceDto, WorkspaceListDto, WorkspaceResponseDto } from './dto/workspace.dto.js';
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
  @ApiOperation({
    summary: 'List workspaces',
    description: 'The workspaces of the account.',
    operationId: 'listWorkspaces',
  })
  @ApiOkResponse({ type: WorkspaceListDto })
  @ApiErrors(400, 401, 500, 503)
  async list(@CurrentCaller() caller: Caller, @Query() page: PageQueryDto): Promise<WorkspaceListDto> {
    const { items, total } = await this.workspaces.list(caller, page);
    return { data: items.map(toWorkspaceDto), total_count: total };
  }

  @Post()
  @HttpCode(201)
  @ManagementOnly({ rejection: 403 })
  @ApiOperation({
    summary: 'Create a workspace',
    description: 'Responds 409 beyond the workspace limit of the account. Deleted workspaces do not count.',
    operationId: 'createWorkspace',
  })
  @ApiCreatedResponse({ type: WorkspaceResponseDto })
  @ApiErrors(400, 401, 403, 409, 413, 500, 503)
  async create(
    @CurrentActor() actor: Actor,
    @Body() body: CreateWorkspaceDto,
  ): Promise<WorkspaceResponseDto> {
    return { data: toWorkspaceDto(await this.workspaces.create(actor, body)) };
  }

  @Get(':id')
  @ManagementOnly()
  @ApiOperation({
    summary: 'Get a workspace',
    description: 'The settings of a workspace, by id or slug.',
    operationId: 'getWorkspace',
  })
  @WorkspaceParam()
  @ApiOkResponse({ type: WorkspaceResponseDto })
  @ApiErrors(401, 404, 500, 503)
  async get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<WorkspaceResponseDto> {
    return { data: toWorkspaceDto(await this.workspaces.get(caller, id)) };
  }

  @Patch(':id')
  @ManagementOnly({ rejection: 403 })
  @ApiOperation({
    summary: 'Update a workspace',
    description: 'Partial update: omitted members keep their value.',
    operationId: 'updateWorkspace',
  })
  @WorkspaceParam()
  @ApiOkResponse({ type: WorkspaceResponseDto })
  @ApiErrors(400, 401, 403, 404, 413, 500, 503)
  async update(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: UpdateWorkspaceDto,
  ): Promise<WorkspaceResponseDto> {
    return { data: toWorkspaceDto(await this.workspaces.update(actor, id, body)) };
  }

  @Delete(':id')
  @ManagementOnly({ rejection: 403 })
  @ApiOperation({
    summary: 'Delete a workspace',
    description:
      'Disables its destinations and deletes its budgets and provider credentials. Responds 400 while it has API keys.',
    operationId: 'deleteWorkspace',
  })
  @WorkspaceParam()
  @ApiOkResponse({ type: DeletedDto })
  @ApiErrors(400, 401, 403, 404, 500, 503)
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
  @ApiOperation({
    summary: 'List the members of a workspace',
    description: 'The users of a workspace with their roles.',
    operationId: 'listWorkspaceMembers',
  })
  @WorkspaceParam()
  @ApiOkResponse({ type: WorkspaceMemberListDto })
  @ApiErrors(400, 401, 403, 404, 500, 503)
  async listMembers(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() page: PageQueryDto,
  ): Promise<WorkspaceMemberListDto> {
    const { items, total } = await this.members.list(caller, id, page);
    return { data: items.map(toWorkspaceMemberDto), total_count: total };
  }

  @Post(':id/members/add')
  @HttpCode(200)
  @ManagementOnly({ rejection: 403 })
  @ApiOperation({
    summary: 'Add members to a workspace',
    description:
      'Responds 409 and adds no member when the request would exceed the member limit of the workspace.',
    operationId: 'bulkAddWorkspaceMembers',
  })
  @WorkspaceParam()
  @ApiOkResponse({ type: MembersAddedDto })
  @ApiErrors(400, 401, 403, 404, 409, 413, 500, 503)
  async addMembers(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: AddMembersDto,
  ): Promise<MembersAddedDto> {
    const added = await this.members.add(actor, id, body);
    return { added_count: added.length, data: added.map(toWorkspaceMemberDto) };
  }

  @Post(':id/members/remove')
  @HttpCode(200)
  @ManagementOnly({ rejection: 403 })
  @ApiOperation({
    summary: 'Remove members from a workspace',
    description:
      'Responds 400 and removes no member when one of them created API keys that are still in the workspace.',
    operationId: 'bulkRemoveWorkspaceMembers',
  })
  @WorkspaceParam()
  @ApiOkResponse({ type: MembersRemovedDto })
  @ApiErrors(400, 401, 403, 404, 413, 500, 503)
  async removeMembers(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: RemoveMembersDto,
  ): Promise<MembersRemovedDto> {
    return { removed_count: await this.members.remove(actor, id, body) };
  }
}
