// The routes of a sign-in from a command line: a person consents to a code, and the program exchanges it for a key.
import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { CurrentActor, ManagementOnly, NeedsRight, Public } from '../../auth/auth.decorators.js';
import { originOf } from '../../auth/caller.js';
import type { Actor } from '../../domain/audit.js';
import { InTrafficClass } from '../../http/load-shedding/load-shedding.guard.js';
import { describeApplication } from '../../http/observe/call-headers.js';
import { dataOf } from '../../http/openapi/envelopes.js';
import type { Data } from '../../http/openapi/envelopes.js';
import { Operation } from '../../http/openapi/operation.js';
import {
  AuthCodeDto,
  CreateAuthCodeDto,
  ExchangeAuthCodeDto,
  ExchangedKeyDto,
} from '../dto/auth-code.dto.js';
import { AuthCodesService } from './auth-codes.service.js';

@ApiTags('API keys')
@Controller('auth/keys')
export class AuthCodesController {
  constructor(private readonly codes: AuthCodesService) {}

  @Post('code')
  @ApiBearerAuth()
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('keys.change')
  @Operation({
    id: 'createAuthKeysCode',
    summary: 'Create an authorization code',
    description:
      'Consents to a key for the program that listens at `callback_url`. Responds 409 while the account has 100 unused codes.',
    answer: dataOf(AuthCodeDto),
    errors: [409],
  })
  async create(
    @CurrentActor() actor: Actor,
    @Body() body: CreateAuthCodeDto,
    @Req() request: Request,
  ): Promise<Data<AuthCodeDto>> {
    const { code, createdAt } = await this.codes.create(
      actor,
      body,
      describeApplication(request).title ?? null,
    );
    return { data: { id: code, app_id: 0, created_at: createdAt.toISOString() } };
  }

  @Post()
  @HttpCode(200)
  @Public()
  @InTrafficClass('public')
  @Operation({
    id: 'exchangeAuthCodeForAPIKey',
    summary: 'Exchange an authorization code for a key',
    description:
      'A code works once, and a wrong verifier spends it. A repeated sign-in with the same label replaces the secret of the ' +
      'same key. Responds 409 beyond the key limit of the workspace or account.',
    answer: ExchangedKeyDto,
    errors: [403, 409],
  })
  async exchange(@Body() body: ExchangeAuthCodeDto, @Req() request: Request): Promise<ExchangedKeyDto> {
    const { secret, userId } = await this.codes.exchange(body, originOf(request));
    return { key: secret, user_id: userId };
  }
}
