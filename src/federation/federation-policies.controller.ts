// The routes of federation policies, an extension (docs/contract.md#workload-identity).
import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Actor } from '../domain/audit.js';
import { MAX_POLICIES_PER_ACCOUNT } from '../domain/federation/federation-policy.js';
import type { Manager } from '../domain/people/manager.js';
import { PageQueryDto } from '../http/dto/page-query.dto.js';
import { dataOf, DeletedDto, pageOf } from '../http/openapi/envelopes.js';
import type { Data, Page } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { ConditionalGet } from '../http/server/conditional-get.js';
import {
  CreateFederationPolicyDto,
  FederationPolicyDto,
  toFederationPolicyDto,
  UpdateFederationPolicyDto,
} from './dto/federation-policy.dto.js';
import { FederationPoliciesService } from './federation-policies.service.js';

const ID = { name: 'id', format: 'uuid', description: 'The id of the federation policy.' } as const;

@ApiTags('Workload identity')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('federation-policies')
export class FederationPoliciesController {
  constructor(private readonly policies: FederationPoliciesService) {}

  @Get()
  @NeedsRight('federation.read')
  @ConditionalGet()
  @Operation({
    id: 'listFederationPolicies',
    summary: 'List federation policies',
    description: 'The policies of the account, newest first.',
    answer: pageOf(FederationPolicyDto, { description: 'Newest first.' }),
  })
  async list(
    @CurrentManager() { accountId }: Manager,
    @Query() query: PageQueryDto,
  ): Promise<Page<FederationPolicyDto>> {
    const { items, total } = await this.policies.list(accountId, query);
    return { data: items.map(toFederationPolicyDto), total_count: total };
  }

  @Post()
  @NeedsRight('federation.change')
  @Operation({
    id: 'createFederationPolicy',
    summary: 'Create a federation policy',
    description:
      'Jobs exchange tokens of the issuer for short-lived access tokens of the key, by `POST /oauth/token`. ' +
      `Responds 409 beyond ${MAX_POLICIES_PER_ACCOUNT} policies of the account.`,
    status: 201,
    answer: dataOf(FederationPolicyDto),
    errors: [409],
  })
  async create(
    @CurrentActor() actor: Actor,
    @Body() body: CreateFederationPolicyDto,
  ): Promise<Data<FederationPolicyDto>> {
    return { data: toFederationPolicyDto(await this.policies.create(actor, body)) };
  }

  @Get(':id')
  @NeedsRight('federation.read')
  @Operation({
    id: 'getFederationPolicy',
    summary: 'Get a federation policy',
    description: 'The settings of a policy.',
    answer: dataOf(FederationPolicyDto),
  })
  @ApiParam(ID)
  async get(
    @CurrentManager() { accountId }: Manager,
    @Param('id') id: string,
  ): Promise<Data<FederationPolicyDto>> {
    return { data: toFederationPolicyDto(await this.policies.get(accountId, id)) };
  }

  @Patch(':id')
  @NeedsRight('federation.change')
  @Operation({
    id: 'updateFederationPolicy',
    summary: 'Update a federation policy',
    description:
      'Partial update: omitted members keep their value, and `claims` is replaced as a whole. A change of anything but ' +
      'the name ends the access tokens of the policy.',
    answer: dataOf(FederationPolicyDto),
  })
  @ApiParam(ID)
  async update(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: UpdateFederationPolicyDto,
  ): Promise<Data<FederationPolicyDto>> {
    return { data: toFederationPolicyDto(await this.policies.update(actor, id, body)) };
  }

  @Delete(':id')
  @NeedsRight('federation.change')
  @Operation({
    id: 'deleteFederationPolicy',
    summary: 'Delete a federation policy',
    description: 'Its access tokens end.',
    answer: DeletedDto,
  })
  @ApiParam(ID)
  async delete(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<DeletedDto> {
    await this.policies.delete(actor, id);
    return { deleted: true };
  }
}
