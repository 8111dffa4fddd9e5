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
  ApiParam({ name: 'id', description: 'The id or the slug.', example: 'production' });

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
  @ApiOperation({ summary: 'List the workspaces of the account', operationId: 'listWorkspaces' })
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
    description:
      'The number of workspaces of an account is limited; the next one is 409. Deleted ones do not count.',
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
  @ApiOperation({ summary: 'Get one workspace', operationId: 'getWorkspace' })
  @WorkspaceParam()
  @ApiOkResponse({ type: WorkspaceResponseDto })
  @ApiErrors(401, 404, 500, 503)
  async get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<WorkspaceResponseDto> {
    return { data: toWorkspaceDto(await this.workspaces.get(caller, id)) };
  }

  @Patch(':id')
  @ManagementOnly({ rejection: 403 })
  @ApiOperation({ summary: 'Change a workspace', operationId: 'updateWorkspace' })
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
      'Refused while it has API keys. Its destinations are disabled; its budgets and provider credentials are gone.',
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
  @ApiOperation({ summary: 'List the members of a workspace', operationId: 'listWorkspaceMembers' })
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
      'The number of members of a workspace is limited. When the request would exceed it, the answer is 409 and no member ' +
      'is added.',
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
    description: 'Refused for whoever has created API keys that are still in the workspace.',
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
