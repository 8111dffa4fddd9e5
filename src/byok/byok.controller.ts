// The routes of customers' own provider credentials.
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentCaller, ManagementOnly } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import type { Actor } from '../domain/audit.js';
import { MAX_CREDENTIALS_PER_PROVIDER } from '../domain/embeddings/provider-credential.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { ConditionalGet } from '../http/server/conditional-get.js';
import { DeletedDto } from '../http/dto/deleted.dto.js';
import { ByokService } from './byok.service.js';
import { ByokKeyListDto, ByokKeyResponseDto, toByokKeyDto } from './dto/byok-key.dto.js';
import { CreateByokKeyDto, ListByokKeysQueryDto, UpdateByokKeyDto } from './dto/byok-key-bodies.dto.js';

@ApiTags('Provider credentials')
@ApiBearerAuth()
@Controller('byok')
export class ByokController {
  constructor(private readonly byok: ByokService) {}

  @Get()
  @ConditionalGet()
  @ManagementOnly()
  @ApiOperation({
    summary: 'List provider credentials',
    description: 'The provider credentials of a workspace, without their keys.',
    operationId: 'listBYOKKeys',
  })
  @ApiOkResponse({ type: ByokKeyListDto })
  @ApiErrors(400, 401, 500, 503)
  async list(@CurrentCaller() caller: Caller, @Query() query: ListByokKeysQueryDto): Promise<ByokKeyListDto> {
    const { items, total } = await this.byok.list(caller, query);
    return { data: items.map(toByokKeyDto), total_count: total };
  }

  @Post()
  @HttpCode(201)
  @ManagementOnly({ rejection: 403 })
  @ApiOperation({
    summary: 'Create a provider credential',
    description: `Responds 409 beyond ${MAX_CREDENTIALS_PER_PROVIDER} credentials of a workspace for one provider, disabled ones included.`,
    operationId: 'createBYOKKey',
  })
  @ApiCreatedResponse({ type: ByokKeyResponseDto })
  @ApiErrors(400, 401, 403, 409, 413, 500, 503)
  async create(@CurrentActor() actor: Actor, @Body() body: CreateByokKeyDto): Promise<ByokKeyResponseDto> {
    return { data: toByokKeyDto(await this.byok.create(actor, body)) };
  }

  @Get(':id')
  @ManagementOnly()
  @ApiOperation({
    summary: 'Get a provider credential',
    description: 'The settings of a credential, without its key.',
    operationId: 'getBYOKKey',
  })
  @ApiOkResponse({ type: ByokKeyResponseDto })
  @ApiErrors(401, 404, 500, 503)
  async get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<ByokKeyResponseDto> {
    return { data: toByokKeyDto(await this.byok.get(caller, id)) };
  }

  @Patch(':id')
  @ManagementOnly({ rejection: 403 })
  @ApiOperation({
    summary: 'Update a provider credential',
    description:
      'Partial update: omitted members keep their value. `key` rotates the key in place. A credential that its provider ' +
      'rejects (401, 402, 403) is not used for 5 to 60 seconds; any update makes it usable immediately.',
    operationId: 'updateBYOKKey',
  })
  @ApiOkResponse({ type: ByokKeyResponseDto })
  @ApiErrors(400, 401, 403, 404, 413, 500, 503)
  async update(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: UpdateByokKeyDto,
  ): Promise<ByokKeyResponseDto> {
    return { data: toByokKeyDto(await this.byok.update(actor, id, body)) };
  }

  @Delete(':id')
  @ManagementOnly()
  @ApiOperation({
    summary: 'Delete a provider credential',
    description: 'Deletes the credential and its key. Later calls do not use it.',
    operationId: 'deleteBYOKKey',
  })
  @ApiOkResponse({ type: DeletedDto })
  @ApiErrors(401, 404, 500, 503)
  async delete(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<DeletedDto> {
    await this.byok.delete(actor, id);
    return { deleted: true };
  }
}
