// The routes of customers' own provider credentials.
import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import type { Actor } from '../domain/audit.js';
import { MAX_CREDENTIALS_PER_PROVIDER } from '../domain/providers/provider-credential.js';
import { dataOf, DeletedDto, pageOf } from '../http/openapi/envelopes.js';
import type { Data, Page } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { ConditionalGet } from '../http/server/conditional-get.js';
import { ByokService } from './byok.service.js';
import { ByokKeyDto, toByokKeyDto } from './dto/byok-key.dto.js';
import { CreateByokKeyDto, ListByokKeysQueryDto, UpdateByokKeyDto } from './dto/byok-key-bodies.dto.js';

@ApiTags('Provider credentials')
@ApiBearerAuth()
@Controller('byok')
export class ByokController {
  constructor(private readonly byok: ByokService) {}

  @Get()
  @ConditionalGet()
  @ManagementOnly()
  @NeedsRight('provider_keys.read')
  @Operation({
    id: 'listBYOKKeys',
    summary: 'List provider credentials',
    description: 'The provider credentials of a workspace, without their keys.',
    answer: pageOf(ByokKeyDto),
  })
  async list(
    @CurrentManager() manager: Manager,
    @Query() query: ListByokKeysQueryDto,
  ): Promise<Page<ByokKeyDto>> {
    const { items, total } = await this.byok.list(manager, query);
    return { data: items.map(toByokKeyDto), total_count: total };
  }

  @Post()
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('provider_keys.change')
  @Operation({
    id: 'createBYOKKey',
    summary: 'Create a provider credential',
    description: `Responds 409 beyond ${MAX_CREDENTIALS_PER_PROVIDER} credentials of a workspace for one provider, disabled ones included.`,
    status: 201,
    answer: dataOf(ByokKeyDto),
    errors: [409],
  })
  async create(@CurrentActor() actor: Actor, @Body() body: CreateByokKeyDto): Promise<Data<ByokKeyDto>> {
    return { data: toByokKeyDto(await this.byok.create(actor, body)) };
  }

  @Get(':id')
  @ManagementOnly()
  @NeedsRight('provider_keys.read')
  @Operation({
    id: 'getBYOKKey',
    summary: 'Get a provider credential',
    description: 'The settings of a credential, without its key.',
    answer: dataOf(ByokKeyDto),
  })
  async get(@CurrentManager() manager: Manager, @Param('id') id: string): Promise<Data<ByokKeyDto>> {
    return { data: toByokKeyDto(await this.byok.get(manager, id)) };
  }

  @Patch(':id')
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('provider_keys.change')
  @Operation({
    id: 'updateBYOKKey',
    summary: 'Update a provider credential',
    description:
      'Partial update: omitted members keep their value. `key` rotates the key in place. A credential that its provider ' +
      'rejects (401, 402, 403) is not used for 5 to 60 seconds; any update makes it usable immediately.',
    answer: dataOf(ByokKeyDto),
  })
  async update(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: UpdateByokKeyDto,
  ): Promise<Data<ByokKeyDto>> {
    return { data: toByokKeyDto(await this.byok.update(actor, id, body)) };
  }

  @Delete(':id')
  @ManagementOnly()
  @NeedsRight('provider_keys.change')
  @Operation({
    id: 'deleteBYOKKey',
    summary: 'Delete a provider credential',
    description: 'Deletes the credential and its key. Later calls do not use it.',
    answer: DeletedDto,
  })
  async delete(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<DeletedDto> {
    await this.byok.delete(actor, id);
    return { deleted: true };
  }
}
