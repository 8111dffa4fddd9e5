// The routes of the stored catalogue: an extension of the contract (docs/contract.md#catalogue).
import { Body, Controller, Delete, Get, Headers, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiHeader, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentActor, CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Actor } from '../domain/audit.js';
import { AppError } from '../domain/errors.js';
import type { Manager } from '../domain/people/manager.js';
import { dataOf, DeletedDto, listOf, pageOf } from '../http/openapi/envelopes.js';
import type { Data, Page } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { CatalogueEntries } from './catalogue-entries.js';
import { CatalogueService } from './catalogue.service.js';
import { ExpiringModelsService } from './expiring-models.service.js';
import { ExpiringModelDto, toExpiringModelDto } from './dto/expiring-models.dto.js';
import {
  CatalogueChangesDto,
  CatalogueEntryDto,
  CatalogueModelDto,
  CatalogueRevisionDto,
  toCatalogueEntryDto,
  toCatalogueModelDto,
  toCatalogueRevisionDto,
} from './dto/catalogue-model.dto.js';
import {
  CatalogueChangesQueryDto,
  CatalogueQueryDto,
  CatalogueReasonDto,
  ChangeCatalogueModelDto,
} from './dto/catalogue-queries.dto.js';

const IfMatch = (): MethodDecorator =>
  ApiHeader({
    name: 'If-Match',
    description: 'The `version` of the model that the change is made from. 409 when it has changed since.',
    required: false,
    schema: { type: 'string', example: '"12"' },
  });
const OPERATOR = 'Needs a management key of an account of OPERATOR_ACCOUNTS.';
const ON_ALL = 'Every replica applies the change within 2 seconds; calls in flight keep their prices.';

@ApiTags('Catalogue')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('catalogue')
export class CatalogueController {
  constructor(
    private readonly catalogue: CatalogueService,
    private readonly entries: CatalogueEntries,
    private readonly ending: ExpiringModelsService,
  ) {}

  @Get('models')
  @NeedsRight('catalogue.read')
  @Operation({
    id: 'listCatalogueModels',
    summary: 'List the models of the catalogue with their layers',
    description:
      'Every model, disabled ones as well, with the layer of each member: shipped, imported, operator, file. A higher layer wins.',
    answer: pageOf(CatalogueEntryDto),
  })
  async list(@Query() query: CatalogueQueryDto): Promise<Page<CatalogueEntryDto>> {
    const { items, total } = await this.entries.list(query);
    return { data: items.map(toCatalogueEntryDto), total_count: total };
  }

  @Get('models/:author/:slug')
  @NeedsRight('catalogue.read')
  @Operation({
    id: 'getCatalogueModel',
    summary: 'Get a model of the catalogue with its history',
    description: 'The model, each of its layers, and its newest 50 revisions.',
    answer: dataOf(CatalogueModelDto),
  })
  async get(
    @CurrentManager() manager: Manager,
    @Param('author') author: string,
    @Param('slug') slug: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Data<CatalogueModelDto>> {
    return answer(response, toCatalogueModelDto(await this.catalogue.get(manager, `${author}/${slug}`)));
  }

  @Put('models/:author/:slug')
  @IfMatch()
  @NeedsRight('catalogue.change')
  @Operation({
    id: 'putCatalogueModel',
    summary: 'Add or change a model of the catalogue',
    description: `Replaces the operator's layer of the model. ${ON_ALL} ${OPERATOR}`,
    answer: dataOf(CatalogueModelDto),
    errors: [409],
  })
  async put(
    @CurrentActor() actor: Actor,
    @Param('author') author: string,
    @Param('slug') slug: string,
    @Body() { kind, model, reason = null }: ChangeCatalogueModelDto,
    @Headers('if-match') expected: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Data<CatalogueModelDto>> {
    const options = { reason, expected: readVersion(expected) };
    const changed = await this.catalogue.put(actor, `${author}/${slug}`, { kind, model }, options);
    return answer(response, toCatalogueModelDto(changed));
  }

  @Delete('models/:author/:slug')
  @IfMatch()
  @NeedsRight('catalogue.change')
  @Operation({
    id: 'deleteCatalogueModel',
    summary: "End the operator's layer of a model",
    description: `The imported or shipped model is in force again; a model that only the operator has is gone. ${ON_ALL} ${OPERATOR}`,
    answer: DeletedDto,
    errors: [409],
  })
  async delete(
    @CurrentActor() actor: Actor,
    @Param('author') author: string,
    @Param('slug') slug: string,
    @Query() { reason = null }: CatalogueReasonDto,
    @Headers('if-match') expected: string | undefined,
  ): Promise<DeletedDto> {
    await this.catalogue.delete(actor, `${author}/${slug}`, { reason, expected: readVersion(expected) });
    return { deleted: true };
  }

  @Get('expiring')
  @NeedsRight('keys.read')
  @Operation({
    id: 'listExpiringModels',
    summary: 'List the models that end, with the keys that use them',
    description:
      "Every model with `expires_on`, the first to end first, and the keys of the caller's account that have used it within 7 days. Read " +
      'from sums that follow the log by about a minute; at most 1,000 keys.',
    answer: listOf(ExpiringModelDto),
  })
  async expiring(@CurrentManager() manager: Manager): Promise<Data<ExpiringModelDto[]>> {
    return { data: (await this.ending.list(manager)).map(toExpiringModelDto) };
  }

  @Get('changes')
  @NeedsRight('catalogue.read')
  @Operation({
    id: 'listCatalogueChanges',
    summary: 'List the changes of the catalogue',
    description:
      'All revisions, newest first, with the layer before and after. Actors and reasons are shown to operator accounts.',
    answer: CatalogueChangesDto,
  })
  async changes(
    @CurrentManager() manager: Manager,
    @Query() query: CatalogueChangesQueryDto,
  ): Promise<CatalogueChangesDto> {
    const { items, next, showsActors } = await this.catalogue.changes(manager, query);
    return { data: items.map((revision) => toCatalogueRevisionDto(revision, showsActors)), next };
  }

  @Post('changes/:version/revert')
  @NeedsRight('catalogue.change')
  @Operation({
    id: 'revertCatalogueChange',
    summary: 'Revert a change of the catalogue',
    description: `Appends a revision with the layer before that change. 409 when that layer cannot be read today. ${ON_ALL} ${OPERATOR}`,
    status: 201,
    answer: dataOf(CatalogueRevisionDto),
    errors: [409],
  })
  async revert(
    @CurrentActor() actor: Actor,
    @Param('version') version: string,
    @Body() { reason = null }: CatalogueReasonDto,
  ): Promise<Data<CatalogueRevisionDto>> {
    return {
      data: toCatalogueRevisionDto(await this.catalogue.revert(actor, Number(version), reason), true),
    };
  }
}

function answer(response: Response, data: CatalogueModelDto): Data<CatalogueModelDto> {
  // The tag is for If-Match alone: the file, and the key that asks, change the answer as well.
  response.set({ ETag: `"${data.version}"`, 'Cache-Control': 'no-store' });
  return { data };
}

/** Undefined: any version will do. */
function readVersion(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '*') return undefined;
  const [, version] = /^(?:W\/)?"?(\d{1,15})"?$/.exec(text.trim()) ?? [];
  if (version === undefined)
    throw new AppError('invalid_request', {
      detail: 'If-Match: must be the version of the model, such as "12"',
    });
  return Number(version);
}
