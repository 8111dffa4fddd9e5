// The routes of presets (docs/contract.md#presets).
import {
  applyDecorators,
  Body,
  Controller,
  Delete,
  Get,
  Param,
  Patch,
  Post,
  Query,
  Req,
} from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { CurrentActor, CurrentManager, ManagementOnly, NeedsRight } from '../../auth/auth.decorators.js';
import type { Actor } from '../../domain/audit.js';
import type { ModelWire } from '../../domain/chat/model-wire.js';
import type { Manager } from '../../domain/people/manager.js';
import { MAX_PRESETS_PER_WORKSPACE, MAX_VERSIONS_PER_PRESET } from '../../domain/preset.js';
import { KeepsRawBody, takeRawBody } from '../../http/body/raw-body.js';
import { dataOf, DeletedDto, pageOf } from '../../http/openapi/envelopes.js';
import type { Data, Page } from '../../http/openapi/envelopes.js';
import { Operation } from '../../http/openapi/operation.js';
import { ConditionalGet } from '../../http/server/conditional-get.js';
import { CreateChatCompletionDto } from '../dto/create-chat-completion.dto.js';
import { CreateMessageDto } from '../dto/create-message.dto.js';
import { CreateResponseDto } from '../dto/create-response.dto.js';
import { CHAT_BODY } from '../request/checked-body.js';
import {
  DetailedPresetDto,
  PresetDto,
  PresetQueryDto,
  PresetsQueryDto,
  PresetVersionDto,
  toDetailedPresetDto,
  toPresetDto,
  toPresetVersionDto,
  UpdatePresetDto,
} from './preset.dto.js';
import { PresetsService } from './presets.service.js';

const SlugParam = (): MethodDecorator =>
  ApiParam({ name: 'slug', description: 'The name of the preset in its workspace.', example: 'support' });

/** A route that makes a version of the body of a call. */
function MakesVersion(id: string, wire: string): MethodDecorator {
  return applyDecorators(
    KeepsRawBody(CHAT_BODY),
    NeedsRight('presets.change'),
    Operation({
      id,
      summary: `Create a preset from the body of ${wire}`,
      description:
        'Creates the preset, or its next version, which calls use from then on; nothing is called. Model, models, provider, ' +
        'sampling, limits, reasoning, format, tools and the leading system text are kept; messages and other members are ' +
        `ignored. Responds 409 beyond ${MAX_PRESETS_PER_WORKSPACE} presets of the workspace and ${MAX_VERSIONS_PER_PRESET} ` +
        'versions of the preset.',
      answer: dataOf(DetailedPresetDto),
      errors: [409],
    }),
    SlugParam(),
  );
}

@ApiTags('Presets')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('presets')
export class PresetsController {
  constructor(private readonly presets: PresetsService) {}

  @Get()
  @ConditionalGet()
  @NeedsRight('presets.read')
  @Operation({
    id: 'listPresets',
    summary: 'List presets',
    description: 'The presets of a workspace, the last changed first.',
    answer: pageOf(PresetDto, { name: 'PresetsResponseDto', description: 'The last changed first.' }),
  })
  async list(
    @CurrentManager() manager: Manager,
    @Query() { workspace_id: workspace, ...page }: PresetsQueryDto,
  ): Promise<Page<PresetDto>> {
    const { items, total } = await this.presets.list(manager, workspace, page);
    return { data: items.map(toPresetDto), total_count: total };
  }

  @Get(':slug')
  @NeedsRight('presets.read')
  @Operation({
    id: 'getPreset',
    summary: 'Get a preset',
    description: 'With its designated version, which calls use.',
    answer: dataOf(DetailedPresetDto),
  })
  @SlugParam()
  async get(
    @CurrentManager() manager: Manager,
    @Param('slug') slug: string,
    @Query() { workspace_id: workspace }: PresetQueryDto,
  ): Promise<Data<DetailedPresetDto>> {
    return { data: toDetailedPresetDto(await this.presets.get(manager, workspace, slug)) };
  }

  @Get(':slug/versions')
  @NeedsRight('presets.read')
  @Operation({
    id: 'listPresetVersions',
    summary: 'List the versions of a preset',
    description: 'The oldest first.',
    answer: pageOf(PresetVersionDto, { name: 'PresetVersionsResponseDto', description: 'The oldest first.' }),
  })
  @SlugParam()
  async listVersions(
    @CurrentManager() manager: Manager,
    @Param('slug') slug: string,
    @Query() { workspace_id: workspace, ...page }: PresetsQueryDto,
  ): Promise<Page<PresetVersionDto>> {
    const { items, total } = await this.presets.listVersions(manager, workspace, slug, page);
    return { data: items.map(toPresetVersionDto), total_count: total };
  }

  @Get(':slug/versions/:version')
  @NeedsRight('presets.read')
  @Operation({
    id: 'getPresetVersion',
    summary: 'Get a version of a preset',
    description: 'By its number.',
    answer: dataOf(PresetVersionDto),
  })
  @SlugParam()
  @ApiParam({ name: 'version', description: 'From 1.', example: '1' })
  async getVersion(
    @CurrentManager() manager: Manager,
    @Param('slug') slug: string,
    @Param('version') version: string,
    @Query() { workspace_id: workspace }: PresetQueryDto,
  ): Promise<Data<PresetVersionDto>> {
    return { data: toPresetVersionDto(await this.presets.getVersion(manager, workspace, slug, version)) };
  }

  @Post(':slug/chat/completions')
  @MakesVersion('createPresetsChatCompletions', 'a chat completion')
  @ApiBody({ type: CreateChatCompletionDto })
  async fromChat(
    @CurrentActor() actor: Actor,
    @Param('slug') slug: string,
    @Query() query: PresetQueryDto,
    @Req() request: Request,
  ): Promise<Data<DetailedPresetDto>> {
    return this.addVersion(actor, slug, query, request, 'chat');
  }

  @Post(':slug/messages')
  @MakesVersion('createPresetsMessages', 'a message')
  @ApiBody({ type: CreateMessageDto })
  async fromMessages(
    @CurrentActor() actor: Actor,
    @Param('slug') slug: string,
    @Query() query: PresetQueryDto,
    @Req() request: Request,
  ): Promise<Data<DetailedPresetDto>> {
    return this.addVersion(actor, slug, query, request, 'messages');
  }

  @Post(':slug/responses')
  @MakesVersion('createPresetsResponses', 'a response')
  @ApiBody({ type: CreateResponseDto })
  async fromResponses(
    @CurrentActor() actor: Actor,
    @Param('slug') slug: string,
    @Query() query: PresetQueryDto,
    @Req() request: Request,
  ): Promise<Data<DetailedPresetDto>> {
    return this.addVersion(actor, slug, query, request, 'responses');
  }

  @Patch(':slug')
  @NeedsRight('presets.change')
  @Operation({
    id: 'updatePreset',
    summary: 'Update a preset',
    description:
      'An extension. Partial update: its status, and the version that calls use. Calls in flight keep what they began with.',
    answer: dataOf(DetailedPresetDto),
  })
  @SlugParam()
  async update(
    @CurrentActor() actor: Actor,
    @Param('slug') slug: string,
    @Query() { workspace_id: workspace }: PresetQueryDto,
    @Body() { status, designated_version: designatedVersion }: UpdatePresetDto,
  ): Promise<Data<DetailedPresetDto>> {
    const changed = await this.presets.change(actor, workspace, slug, { status, designatedVersion });
    return { data: toDetailedPresetDto(changed) };
  }

  @Delete(':slug')
  @NeedsRight('presets.change')
  @Operation({
    id: 'deletePreset',
    summary: 'Delete a preset',
    description:
      'An extension. Archives it: calls respond 404. A new preset of the slug replaces it; until then its status can be set again.',
    answer: DeletedDto,
  })
  @SlugParam()
  async delete(
    @CurrentActor() actor: Actor,
    @Param('slug') slug: string,
    @Query() { workspace_id: workspace }: PresetQueryDto,
  ): Promise<DeletedDto> {
    await this.presets.change(actor, workspace, slug, { status: 'archived' });
    return { deleted: true };
  }

  private async addVersion(
    actor: Actor,
    slug: string,
    { workspace_id: workspace }: PresetQueryDto,
    request: Request,
    wire: ModelWire,
  ): Promise<Data<DetailedPresetDto>> {
    const body = request.body as Readonly<Record<string, unknown>>;
    const sent = { wire, body, bytes: takeRawBody(request) };
    return { data: toDetailedPresetDto(await this.presets.addVersion(actor, workspace, slug, sent)) };
  }
}
