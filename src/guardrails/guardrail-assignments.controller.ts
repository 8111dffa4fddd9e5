// The routes of the assignments of guardrails to keys and members.
import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Actor } from '../domain/audit.js';
import type { Manager } from '../domain/people/manager.js';
import { PageQueryDto } from '../http/dto/page-query.dto.js';
import { pageOf } from '../http/openapi/envelopes.js';
import type { Page } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import {
  AssignedCountDto,
  KeyAssignmentDto,
  KeyHashesDto,
  MemberAssignmentDto,
  MemberUserIdsDto,
  toKeyAssignmentDto,
  toMemberAssignmentDto,
  UnassignedCountDto,
} from './dto/guardrail-assignment.dto.js';
import { GuardrailAssignmentsService } from './guardrail-assignments.service.js';

const OLDEST_FIRST = { description: 'The oldest first.' };
const REPLACES =
  'Replaces the guardrail that they had. Responds 400 and changes nothing when one of them is unknown.';

@ApiTags('Guardrails')
@ApiBearerAuth()
@Controller('guardrails')
export class GuardrailAssignmentsController {
  constructor(private readonly assignments: GuardrailAssignmentsService) {}

  @Get('assignments/keys')
  @ManagementOnly()
  @NeedsRight('guardrails.read')
  @Operation({
    id: 'listKeyAssignments',
    summary: 'List the assignments to keys',
    description: 'Of all guardrails of the account.',
    answer: pageOf(KeyAssignmentDto, OLDEST_FIRST),
  })
  async listKeys(
    @CurrentManager() manager: Manager,
    @Query() page: PageQueryDto,
  ): Promise<Page<KeyAssignmentDto>> {
    return this.keysOf(manager, null, page);
  }

  @Get('assignments/members')
  @ManagementOnly()
  @NeedsRight('guardrails.read')
  @Operation({
    id: 'listMemberAssignments',
    summary: 'List the assignments to members',
    description: 'Of all guardrails of the account.',
    answer: pageOf(MemberAssignmentDto, OLDEST_FIRST),
  })
  async listMembers(
    @CurrentManager() manager: Manager,
    @Query() page: PageQueryDto,
  ): Promise<Page<MemberAssignmentDto>> {
    return this.membersOf(manager, null, page);
  }

  @Get(':id/assignments/keys')
  @ManagementOnly()
  @NeedsRight('guardrails.read')
  @Operation({
    id: 'listGuardrailKeyAssignments',
    summary: 'List the keys of a guardrail',
    description: 'The keys that it is assigned to.',
    answer: pageOf(KeyAssignmentDto, OLDEST_FIRST),
  })
  async listKeysOf(
    @CurrentManager() manager: Manager,
    @Param('id') id: string,
    @Query() page: PageQueryDto,
  ): Promise<Page<KeyAssignmentDto>> {
    return this.keysOf(manager, id, page);
  }

  @Get(':id/assignments/members')
  @ManagementOnly()
  @NeedsRight('guardrails.read')
  @Operation({
    id: 'listGuardrailMemberAssignments',
    summary: 'List the members of a guardrail',
    description: 'The members whose keys it governs.',
    answer: pageOf(MemberAssignmentDto, OLDEST_FIRST),
  })
  async listMembersOf(
    @CurrentManager() manager: Manager,
    @Param('id') id: string,
    @Query() page: PageQueryDto,
  ): Promise<Page<MemberAssignmentDto>> {
    return this.membersOf(manager, id, page);
  }

  @Post(':id/assignments/keys')
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('guardrails.change')
  @Operation({
    id: 'bulkAssignKeysToGuardrail',
    summary: 'Assign a guardrail to keys',
    description: `Keys of its workspace. ${REPLACES}`,
    answer: AssignedCountDto,
  })
  async assignKeys(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() { key_hashes: hashes }: KeyHashesDto,
  ): Promise<AssignedCountDto> {
    return { assigned_count: await this.assignments.assign(actor, id, 'api_key', hashes) };
  }

  @Post(':id/assignments/keys/remove')
  @ManagementOnly()
  @NeedsRight('guardrails.change')
  @Operation({
    id: 'bulkUnassignKeysFromGuardrail',
    summary: 'Remove a guardrail from keys',
    description: 'Keys that have another guardrail keep it.',
    answer: UnassignedCountDto,
  })
  async removeKeys(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() { key_hashes: hashes }: KeyHashesDto,
  ): Promise<UnassignedCountDto> {
    return { unassigned_count: await this.assignments.remove(actor, id, 'api_key', hashes) };
  }

  @Post(':id/assignments/members')
  @ManagementOnly()
  @NeedsRight('guardrails.change')
  @Operation({
    id: 'bulkAssignMembersToGuardrail',
    summary: 'Assign a guardrail to members',
    description: `It governs the keys that they have created in its workspace. ${REPLACES}`,
    answer: AssignedCountDto,
  })
  async assignMembers(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() { member_user_ids: userIds }: MemberUserIdsDto,
  ): Promise<AssignedCountDto> {
    return { assigned_count: await this.assignments.assign(actor, id, 'member', userIds) };
  }

  @Post(':id/assignments/members/remove')
  @ManagementOnly()
  @NeedsRight('guardrails.change')
  @Operation({
    id: 'bulkUnassignMembersFromGuardrail',
    summary: 'Remove a guardrail from members',
    description: 'Members that have another guardrail keep it.',
    answer: UnassignedCountDto,
  })
  async removeMembers(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() { member_user_ids: userIds }: MemberUserIdsDto,
  ): Promise<UnassignedCountDto> {
    return { unassigned_count: await this.assignments.remove(actor, id, 'member', userIds) };
  }

  private async keysOf(
    manager: Manager,
    id: string | null,
    page: PageQueryDto,
  ): Promise<Page<KeyAssignmentDto>> {
    const { items, total } = await this.assignments.list(manager, 'api_key', id, page);
    return { data: items.map(toKeyAssignmentDto), total_count: total };
  }

  private async membersOf(
    manager: Manager,
    id: string | null,
    page: PageQueryDto,
  ): Promise<Page<MemberAssignmentDto>> {
    const { items, total } = await this.assignments.list(manager, 'member', id, page);
    return { data: items.map(toMemberAssignmentDto), total_count: total };
  }
}
