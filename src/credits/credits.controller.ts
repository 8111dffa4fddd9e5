// The route of an account's credits.
import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import { dataOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { CreditsService } from './credits.service.js';
import { CreditsDto, toCreditsDto } from './dto/credits.dto.js';

@ApiTags('Credits')
@ApiBearerAuth()
@Controller('credits')
export class CreditsController {
  constructor(private readonly credits: CreditsService) {}

  @Get()
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('credits.read')
  @Operation({
    id: 'getCredits',
    summary: 'Get the credits of the account',
    description: 'Total credits bought and total spend, in USD.',
    answer: dataOf(CreditsDto),
  })
  async get(@CurrentManager() manager: Manager): Promise<Data<CreditsDto>> {
    return { data: toCreditsDto(await this.credits.get(manager)) };
  }
}
