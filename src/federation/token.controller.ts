// The route of OAuth's token endpoint. It takes a form, as RFC 6749 says, and answers errors with its words.
import { Body, Controller, Header, Post, Req } from '@nestjs/common';
import { ApiConsumes, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '../auth/auth.decorators.js';
import { FORM_TYPE, TakesForm } from '../http/body/form-body.js';
import { requestIdOf } from '../http/errors/request-id.js';
import { InTrafficClass } from '../http/load-shedding/load-shedding.guard.js';
import { Operation } from '../http/openapi/operation.js';
import { AccessTokenDto, TokenExchangeDto } from './dto/token-exchange.dto.js';
import { TokenExchangeService } from './token-exchange.service.js';

@ApiTags('Workload identity')
@Controller('oauth')
export class TokenController {
  constructor(private readonly exchanges: TokenExchangeService) {}

  @Post('token')
  @Public()
  @InTrafficClass('public')
  @TakesForm()
  @Header('Cache-Control', 'no-store')
  @ApiConsumes(FORM_TYPE)
  @Operation({
    id: 'createOauthToken',
    summary: 'Exchange a token',
    description:
      'Exchanges the token of an issuer that a federation policy trusts for a short-lived access token, which acts as ' +
      "the policy's key (RFC 8693). Every token that is not accepted is `invalid_grant`.",
    answer: AccessTokenDto,
  })
  async exchange(@Body() form: TokenExchangeDto, @Req() request: Request): Promise<AccessTokenDto> {
    return this.exchanges.exchange(form, { address: request.ip ?? '', requestId: requestIdOf(request) });
  }
}
