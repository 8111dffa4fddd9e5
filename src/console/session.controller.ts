// Sign-in to the console. Outside the version prefix: the console alone calls it.
import { Body, Controller, Delete, Get, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { CurrentCaller, ForEveryone, Public } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import { AppError } from '../domain/errors.js';
import {
  endedSessionCookies,
  isCrossSite,
  isFromConsole,
  presentedSession,
  sessionCookie,
} from '../domain/people/console-session.js';
import { DeletedDto } from '../http/openapi/envelopes.js';
import { InTrafficClass } from '../http/load-shedding/load-shedding.guard.js';
import { SignInDto } from './dto/session.dto.js';
import type { SessionDto } from './dto/session.dto.js';
import { SessionsService } from './sessions.service.js';

const NOT_STORED = ['Cache-Control', 'no-store'] as const;

@ApiExcludeController()
@Controller('console/session')
export class SessionController {
  constructor(private readonly sessions: SessionsService) {}

  @Post()
  @HttpCode(200)
  @Public()
  @InTrafficClass('public')
  @Header(...NOT_STORED)
  async signIn(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @Body() { key }: SignInDto,
  ): Promise<{ data: SessionDto }> {
    // Another site must not sign the browser in with a key of its own.
    if (isCrossSite(request.headers)) throw new AppError('cross_site');
    const { id, shown } = await this.sessions.signIn(key, request.ip ?? '');
    const tag = await this.sessions.tag();
    const former = presentedSession(request.headers, tag);
    if (former !== null) await this.sessions.signOut(former);
    response.append('Set-Cookie', sessionCookie(id, request.headers, tag));
    return { data: shown };
  }

  @Get()
  @ForEveryone()
  @Header(...NOT_STORED)
  async describe(@CurrentCaller() caller: Caller): Promise<{ data: SessionDto }> {
    return { data: await this.sessions.describe(caller) };
  }

  /** Public: a page whose session has ended signs out as well. */
  @Delete()
  @Public()
  @InTrafficClass('public')
  @Header(...NOT_STORED)
  async signOut(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DeletedDto> {
    if (!isFromConsole(request.method, request.headers)) throw new AppError('cross_site');
    const tag = await this.sessions.tag();
    const id = presentedSession(request.headers, tag);
    if (id !== null) await this.sessions.signOut(id);
    for (const cookie of endedSessionCookies(request.headers, tag)) response.append('Set-Cookie', cookie);
    return { deleted: true };
  }
}
