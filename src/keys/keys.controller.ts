// The routes of API keys. Rotating is an extension of the contract.
import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import type { Actor } from '../domain/audit.js';
import { dataOf, DeletedDto, listOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { AlsoCsv, nextByOffset } from '../http/server/csv.js';
import { ConditionalGet } from '../http/server/conditional-get.js';
import { ApiKeyDto, NewSecretResponseDto, toApiKeyDto } from './dto/api-key.dto.js';
import { CreateKeyDto, RotateKeyDto, UpdateKeyDto } from './dto/key-bodies.dto.js';
import { KeysQueryDto } from './dto/keys-query.dto.js';
import { KeysService } from './keys.service.js';

@ApiTags('API keys')
@ApiBearerAuth()
@Controller('keys')
export class KeysController {
  constructor(private readonly keys: KeysService) {}

  @Get()
  @AlsoCsv(ApiKeyDto, nextByOffset(100))
  @ConditionalGet()
  @ManagementOnly()
  @NeedsRight('keys.read')
  @Operation({
    id: 'list',
    summary: 'List API keys',
    description:
      'The keys of a workspace, or those with a part of a name or in a state; newest first, or as `sort` says.',
    answer: listOf(ApiKeyDto, {
      name: 'ApiKeysResponseDto',
      description: 'In the order of the list, at most 100.',
    }),
  })
  async list(@CurrentManager() manager: Manager, @Query() query: KeysQueryDto): Promise<Data<ApiKeyDto[]>> {
    return { data: (await this.keys.list(manager, query)).map(toApiKeyDto) };
  }

  @Post()
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('keys.change')
  @Operation({
    id: 'createKeys',
    summary: 'Create an API key',
    description:
      'Returns the secret once. Responds 409 beyond the key limit of the workspace or account. Deleted keys do not count.',
    status: 201,
    answer: NewSecretResponseDto,
    errors: [409],
  })
  async create(@CurrentActor() actor: Actor, @Body() body: CreateKeyDto): Promise<NewSecretResponseDto> {
    const { state, secret } = await this.keys.create(actor, body);
    return { data: toApiKeyDto(state), key: secret };
  }

  @Get(':hash')
  @ManagementOnly()
  @NeedsRight('keys.read')
  @Operation({
    id: 'getKey',
    summary: 'Get an API key',
    description: 'The record, limits and spend of a key.',
    answer: dataOf(ApiKeyDto),
  })
  async get(@CurrentManager() manager: Manager, @Param('hash') hash: string): Promise<Data<ApiKeyDto>> {
    return { data: toApiKeyDto(await this.keys.get(manager, hash)) };
  }

  @Patch(':hash')
  @ManagementOnly()
  @NeedsRight('keys.change')
  @Operation({
    id: 'updateKeys',
    summary: 'Update an API key',
    description:
      'Partial update: omitted members keep their value. A limit below the current spend blocks the key immediately.',
    answer: dataOf(ApiKeyDto),
  })
  async update(
    @CurrentActor() actor: Actor,
    @Param('hash') hash: string,
    @Body() body: UpdateKeyDto,
  ): Promise<Data<ApiKeyDto>> {
    return { data: toApiKeyDto(await this.keys.update(actor, hash, body)) };
  }

  @Delete(':hash')
  @ManagementOnly()
  @NeedsRight('keys.change')
  @Operation({
    id: 'deleteKeys',
    summary: 'Delete an API key',
    description: 'Revokes the key. A key may delete itself. Later requests with it receive 401.',
    answer: DeletedDto,
  })
  async delete(@CurrentActor() actor: Actor, @Param('hash') hash: string): Promise<DeletedDto> {
    await this.keys.delete(actor, hash);
    return { deleted: true };
  }

  @Post(':hash/rotate')
  @ManagementOnly()
  @NeedsRight('keys.change')
  @Operation({
    id: 'rotateKey',
    summary: 'Rotate an API key',
    description:
      'Returns a new secret. The record, its hash and its spend stay. The replaced secret stays valid for the grace ' +
      'period; a secret that an earlier rotation replaced expires immediately.',
    answer: NewSecretResponseDto,
  })
  async rotate(
    @CurrentActor() actor: Actor,
    @Param('hash') hash: string,
    @Body() body: RotateKeyDto,
  ): Promise<NewSecretResponseDto> {
    const { state, secret } = await this.keys.rotate(actor, hash, body.grace_period_seconds);
    return { data: toApiKeyDto(state), key: secret };
  }
}
