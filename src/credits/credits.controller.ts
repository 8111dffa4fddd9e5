// The route of an account's credits.
import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, ManagementOnly } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { CreditsService } from './credits.service.js';
import { CreditsResponseDto, toCreditsDto } from './dto/credits.dto.js';

@ApiTags('Credits')
@ApiBearerAuth()
@Controller('credits')
export class CreditsController {
  constructor(private readonly credits: CreditsService) {}

  @Get()
  @ManagementOnly({ rejection: 403 })
  @ApiOperation({
    summary: 'Get the credits of the account',
    description: 'Total credits bought and total spend, in USD.',
    operationId: 'getCredits',
  })
  @ApiOkResponse({ type: CreditsResponseDto })
  @ApiErrors(401, 403, 500, 503)
  async get(@CurrentCaller() caller: Caller): Promise<CreditsResponseDto> {
    return { data: toCreditsDto(await this.credits.get(caller)) };
  }
}
