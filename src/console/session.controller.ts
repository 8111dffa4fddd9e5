// Sign-in to the console. Outside the version prefix: the console alone calls it.
import { Body, Controller, Delete, Get, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ForEveryone, Public } from '../auth/auth.decorators.js';
import { callerOf, findSessionPerson } from '../auth/caller.js';
import { AppError } from '../domain/errors.js';
import {
  endedSessionCookies,
  isCrossSite,
  isFromConsole,
  presentedSession,
  sessionCookie,
} from '../domain/people/console-session.js';
import type { DeletedDto } from '../http/openapi/envelopes.js';
import { InTrafficClass } from '../http/load-shedding/load-shedding.guard.js';
import { SignInDto } from './dto/session.dto.js';
import type { SessionDto } from './dto/session.dto.js';
import { SessionsService } from './sessions.service.js';

interface SignedOut extends DeletedDto {
  /** Of a person's session: where the browser ends that of the issuer as well. Null: the issuer has no such address. */
  readonly end_session_url?: string | null;
}

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
    if (former !== null) await this.sessions.end(former);
    response.append('Set-Cookie', sessionCookie(id, request.headers, tag));
    return { data: shown };
  }

  @Get()
  @ForEveryone()
  @Header(...NOT_STORED)
  async describe(@Req() request: Request): Promise<{ data: SessionDto }> {
    const person = findSessionPerson(request);
    return {
      data: await (person === null
        ? this.sessions.describe(callerOf(request))
        : this.sessions.describePerson(person)),
    };
  }

  /** Public: a page whose session has ended signs out as well. */
  @Delete()
  @Public()
  @InTrafficClass('public')
  @Header(...NOT_STORED)
  async signOut(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<SignedOut> {
    if (!isFromConsole(request.method, request.headers)) throw new AppError('cross_site');
    const tag = await this.sessions.tag();
    const id = presentedSession(request.headers, tag);
    const endSessionUrl = id === null ? undefined : await this.sessions.signOut(id);
    for (const cookie of endedSessionCookies(request.headers, tag)) response.append('Set-Cookie', cookie);
    return { deleted: true, ...(endSessionUrl !== undefined && { end_session_url: endSessionUrl }) };
  }
}
