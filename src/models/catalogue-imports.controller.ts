// The routes of imports of the catalogue: an extension of the contract (docs/contract.md#catalogue).
import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Actor } from '../domain/audit.js';
import type { Manager } from '../domain/people/manager.js';
import { LargeBody } from '../http/load-shedding/load-shedding.guard.js';
import { dataOf, DeletedDto, listOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { CatalogueImportsService } from './catalogue-imports.service.js';
import {
  ApplyCatalogueImportDto,
  CatalogueImportDto,
  CatalogueImportSummaryDto,
  CreateCatalogueImportDto,
  toCatalogueImportDto,
  toImportSummaryDto,
} from './dto/catalogue-imports.dto.js';

const ID = { name: 'id', format: 'uuid', description: 'The id of the import.' } as const;
const OPERATOR = 'Needs a management key of an account of OPERATOR_ACCOUNTS.';

@ApiTags('Catalogue')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('catalogue/imports')
export class CatalogueImportsController {
  constructor(private readonly imports: CatalogueImportsService) {}

  @Post()
  @LargeBody()
  @NeedsRight('catalogue.change')
  @Operation({
    id: 'createCatalogueImport',
    summary: 'Import proposals of price lists',
    description: `Stores prices that lists state beside those in force. Nothing changes until they are applied. The newest 20 are kept. ${OPERATOR}`,
    status: 201,
    answer: dataOf(CatalogueImportDto),
    errors: [409, 413],
  })
  async create(
    @CurrentActor() actor: Actor,
    @Body() { lists, proposals }: CreateCatalogueImportDto,
  ): Promise<Data<CatalogueImportDto>> {
    return { data: toCatalogueImportDto(await this.imports.create(actor, lists, proposals)) };
  }

  @Get()
  @NeedsRight('catalogue.change')
  @Operation({
    id: 'listCatalogueImports',
    summary: 'List imports of the catalogue',
    description: `Newest first. ${OPERATOR}`,
    answer: listOf(CatalogueImportSummaryDto),
  })
  async list(@CurrentManager() manager: Manager): Promise<Data<CatalogueImportSummaryDto[]>> {
    return { data: (await this.imports.list(manager)).map(toImportSummaryDto) };
  }

  @Get(':id')
  @NeedsRight('catalogue.change')
  @Operation({
    id: 'getCatalogueImport',
    summary: 'Get an import of the catalogue',
    description: `Its proposals, each with the price in force and those of the lists. ${OPERATOR}`,
    answer: dataOf(CatalogueImportDto),
  })
  @ApiParam(ID)
  async get(@CurrentManager() manager: Manager, @Param('id') id: string): Promise<Data<CatalogueImportDto>> {
    return { data: toCatalogueImportDto(await this.imports.get(manager, id)) };
  }

  @Post(':id/apply')
  @NeedsRight('catalogue.change')
  @Operation({
    id: 'applyCatalogueImport',
    summary: 'Apply proposals of an import',
    description:
      'All of them or none, as revisions of the imported layer, which is below that of the operator. 409 says which one does not fit and why. ' +
      OPERATOR,
    answer: dataOf(CatalogueImportDto),
    errors: [409],
  })
  @ApiParam(ID)
  async apply(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() { entries }: ApplyCatalogueImportDto,
  ): Promise<Data<CatalogueImportDto>> {
    return { data: toCatalogueImportDto(await this.imports.apply(actor, id, entries)) };
  }

  @Delete(':id')
  @NeedsRight('catalogue.change')
  @Operation({
    id: 'discardCatalogueImport',
    summary: 'Discard an import of the catalogue',
    description: `Its proposals can no longer be applied. Those that are applied hold. ${OPERATOR}`,
    answer: DeletedDto,
  })
  @ApiParam(ID)
  async discard(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<DeletedDto> {
    await this.imports.discard(actor, id);
    return { deleted: true };
  }
}
