// The routes of guardrails.
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import {
  CurrentActor,
  CurrentManager,
  ManagementOnly,
  NeedsRight,
  ReadsOnly,
} from '../auth/auth.decorators.js';
import type { Actor } from '../domain/audit.js';
import { MAX_GUARDRAILS_PER_WORKSPACE } from '../domain/guardrails/guardrail.js';
import type { Manager } from '../domain/people/manager.js';
import { dataOf, DeletedDto, listOf, pageOf } from '../http/openapi/envelopes.js';
import type { Data, Page } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { ConditionalGet } from '../http/server/conditional-get.js';
import { FilterTrialDto, TryFiltersDto } from './dto/filter-trial.dto.js';
import { CreateGuardrailDto, GuardrailsQueryDto, UpdateGuardrailDto } from './dto/guardrail-bodies.dto.js';
import { GuardrailDto, toGuardrailDto } from './dto/guardrail.dto.js';
import { GuardrailUsageDto, GuardrailUsageQueryDto, toGuardrailUsageDto } from './dto/guardrail-usage.dto.js';
import { FilterTrials } from './filter-trials.js';
import { GuardrailsService } from './guardrails.service.js';

@ApiTags('Guardrails')
@ApiBearerAuth()
@Controller('guardrails')
export class GuardrailsController {
  constructor(
    private readonly guardrails: GuardrailsService,
    private readonly trials: FilterTrials,
  ) {}

  @Get()
  @ConditionalGet()
  @ManagementOnly()
  @NeedsRight('guardrails.read')
  @Operation({
    id: 'listGuardrails',
    summary: 'List guardrails',
    description: 'The guardrails of a workspace. Its default guardrail is listed once it is configured.',
    answer: pageOf(GuardrailDto, { description: 'The default one first, then the oldest.' }),
  })
  async list(
    @CurrentManager() manager: Manager,
    @Query() query: GuardrailsQueryDto,
  ): Promise<Page<GuardrailDto>> {
    const { items, total } = await this.guardrails.list(manager, query);
    return { data: items.map(toGuardrailDto), total_count: total };
  }

  @Post()
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('guardrails.change')
  @Operation({
    id: 'createGuardrail',
    summary: 'Create a guardrail',
    description:
      'Governs nothing until it is assigned to keys or members. ' +
      `Responds 409 beyond ${MAX_GUARDRAILS_PER_WORKSPACE} guardrails of the workspace.`,
    status: 201,
    answer: dataOf(GuardrailDto),
    errors: [409],
  })
  async create(@CurrentActor() actor: Actor, @Body() body: CreateGuardrailDto): Promise<Data<GuardrailDto>> {
    return { data: toGuardrailDto(await this.guardrails.create(actor, body)) };
  }

  @Get('usage')
  @ManagementOnly()
  @NeedsRight('guardrails.read_usage')
  @Operation({
    id: 'listGuardrailUsage',
    summary: 'List the usage of guardrails',
    description:
      'Assignments of the guardrails of a workspace, and the matches of their filters in the last seven days.',
    answer: listOf(GuardrailUsageDto, { description: 'In the order of the guardrails.' }),
  })
  async usage(
    @CurrentManager() manager: Manager,
    @Query() { workspace_id: wanted }: GuardrailUsageQueryDto,
  ): Promise<Data<GuardrailUsageDto[]>> {
    return { data: (await this.guardrails.usage(manager, wanted)).map(toGuardrailUsageDto) };
  }

  @Post('test')
  @HttpCode(200)
  @ReadsOnly()
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('guardrails.change')
  @Operation({
    id: 'testGuardrailFilters',
    summary: 'Try content filters on a text',
    description: 'Answers the matches, and the text that a model gets. Nothing is stored or counted.',
    answer: dataOf(FilterTrialDto),
  })
  async test(@CurrentManager() manager: Manager, @Body() body: TryFiltersDto): Promise<Data<FilterTrialDto>> {
    return { data: await this.trials.run(manager, body) };
  }

  @Get(':id')
  @ManagementOnly()
  @NeedsRight('guardrails.read')
  @Operation({
    id: 'getGuardrail',
    summary: 'Get a guardrail',
    description: 'The `default_guardrail_id` of a workspace responds 404 until it is configured.',
    answer: dataOf(GuardrailDto),
  })
  async get(@CurrentManager() manager: Manager, @Param('id') id: string): Promise<Data<GuardrailDto>> {
    return { data: toGuardrailDto(await this.guardrails.get(manager, id)) };
  }

  @Patch(':id')
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('guardrails.change')
  @Operation({
    id: 'updateGuardrail',
    summary: 'Update a guardrail',
    description:
      'Partial update: omitted members keep their value, a list is replaced as a whole, null removes a rule. The ' +
      '`default_guardrail_id` of a workspace is configured by its first update.',
    answer: dataOf(GuardrailDto),
  })
  async update(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: UpdateGuardrailDto,
  ): Promise<Data<GuardrailDto>> {
    return { data: toGuardrailDto(await this.guardrails.update(actor, id, body)) };
  }

  @Delete(':id')
  @ManagementOnly()
  @NeedsRight('guardrails.change')
  @Operation({
    id: 'deleteGuardrail',
    summary: 'Delete a guardrail',
    description: 'Its assignments end. A default guardrail is no longer configured.',
    answer: DeletedDto,
  })
  async delete(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<DeletedDto> {
    await this.guardrails.delete(actor, id);
    return { deleted: true };
  }
}
