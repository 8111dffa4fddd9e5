// The routes of a workspace's own-key policy: an extension of the contract (docs/contract.md#own-keys).
import { Body, Controller, Get, Param, Put, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Actor } from '../domain/audit.js';
import type { Manager } from '../domain/people/manager.js';
import { EmptyQueryDto } from '../http/dto/page-query.dto.js';
import { dataOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { OwnKeyPolicyDto, PutOwnKeyPolicyDto, toOwnKeyPolicyDto } from './dto/own-key-policy.dto.js';
import { OwnKeyPoliciesService } from './own-key-policies.service.js';

const WorkspaceParam = (): MethodDecorator =>
  ApiParam({ name: 'id', description: 'Id or slug of the workspace.', example: 'production' });

@ApiTags('Workspaces')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('workspaces/:id/own-key-policy')
export class OwnKeyPoliciesController {
  constructor(private readonly policies: OwnKeyPoliciesService) {}

  @Get()
  @NeedsRight('own_key_policy.read')
  @Operation({
    id: 'getOwnKeyPolicy',
    summary: 'Get the own-key policy of a workspace',
    description: 'The bounds of keys that developers make for themselves. Without a policy they make none.',
    answer: dataOf(OwnKeyPolicyDto),
  })
  @WorkspaceParam()
  async get(
    @CurrentManager() manager: Manager,
    @Param('id') id: string,
    @Query() _query: EmptyQueryDto,
  ): Promise<Data<OwnKeyPolicyDto>> {
    return { data: toOwnKeyPolicyDto(await this.policies.get(manager, id)) };
  }

  @Put()
  @NeedsRight('own_key_policy.change')
  @Operation({
    id: 'putOwnKeyPolicy',
    summary: 'Set the own-key policy of a workspace',
    description:
      'Replaces the policy: omitted members get their default. Keys that exist stay as they are; their next change or rotation ' +
      'must be within the policy.',
    answer: dataOf(OwnKeyPolicyDto),
  })
  @WorkspaceParam()
  async put(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: PutOwnKeyPolicyDto,
  ): Promise<Data<OwnKeyPolicyDto>> {
    return { data: toOwnKeyPolicyDto(await this.policies.put(actor, id, body)) };
  }
}
