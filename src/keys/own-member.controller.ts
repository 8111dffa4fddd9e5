// The route of the reader's own keys and budget in a workspace: an extension of the contract (docs/contract.md#own-keys).
import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import { dataOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { OwnMemberDto, OwnMemberQueryDto, toOwnMemberDto } from './dto/own-member.dto.js';
import { OwnKeys } from './own-keys.js';

@ApiTags('People')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('organization/members/me')
export class OwnMemberController {
  constructor(private readonly ownKeys: OwnKeys) {}

  @Get()
  @NeedsRight('account.read')
  @Operation({
    id: 'getOwnMember',
    summary: 'Get your own keys and budget',
    description: 'The number of your keys in a workspace, and the spend and limit of all of them together.',
    answer: dataOf(OwnMemberDto),
  })
  async get(
    @CurrentManager() manager: Manager,
    @Query() { workspace_id: workspace }: OwnMemberQueryDto,
  ): Promise<Data<OwnMemberDto>> {
    return { data: toOwnMemberDto(await this.ownKeys.describe(manager, workspace)) };
  }
}
