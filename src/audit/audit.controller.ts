// The route of the audit log: an extension of the contract (docs/contract.md#audit-log).
import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import { Operation } from '../http/openapi/operation.js';
import { AlsoCsv, nextBy } from '../http/server/csv.js';
import { AuditService } from './audit.service.js';
import { AuditEntryDto, AuditLogResponseDto, toAuditEntryDto } from './dto/audit-entry.dto.js';
import { AuditQueryDto } from './dto/audit-query.dto.js';

@ApiTags('Audit log')
@ApiBearerAuth()
@ManagementOnly()
@Controller('audit')
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  @AlsoCsv(AuditEntryDto, nextBy('next', 'after'))
  @NeedsRight('audit.read')
  @Operation({
    id: 'listAuditLog',
    summary: 'List audit log entries',
    description: 'The changes that keys and people of the account made, newest first.',
    answer: AuditLogResponseDto,
  })
  async list(
    @CurrentManager() manager: Manager,
    @Query() query: AuditQueryDto,
  ): Promise<AuditLogResponseDto> {
    const { entries, actors, next } = await this.audit.list(manager, query);
    return {
      data: entries.map((entry) => toAuditEntryDto(entry, actors.get(entry.actorHash ?? '')?.name ?? null)),
      next,
    };
  }
}
