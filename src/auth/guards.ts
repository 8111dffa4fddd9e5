// The three guards of every route: caller, kind of key, rate limit.
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { hashKeySecret, isUsableAt } from '../domain/keys/api-key.js';
import type { Caller } from '../domain/keys/api-key.js';
import { isFromConsole, mayHaveSession, presentedSession } from '../domain/keys/console-session.js';
import { presentedCredential } from '../domain/keys/credential-headers.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import type { ErrorCode } from '../domain/errors.js';
import { Installation } from '../persistence/database/installation.js';
import { KEY_KIND, PUBLIC, RATE_LIMIT_EXEMPT, READS_ONLY, SHOWS_MORE } from './auth.decorators.js';
import { attachCaller, callerOf } from './caller.js';
import { CallerCache, SessionCallers } from './caller-cache.js';
import { RateLimiter } from './rate-limiter.js';

const ANONYMOUS: ReadonlySet<ErrorCode> = new Set(['missing_credential', 'unavailable', 'operation_timeout']);

/** Authenticates the caller by its key, or by a session of the console; 401 without a valid one. */
@Injectable()
export class BearerGuard implements CanActivate {
  constructor(
    private readonly callers: CallerCache,
    private readonly sessions: SessionCallers,
    private readonly installation: Installation,
    private readonly rateLimiter: RateLimiter,
    private readonly clock: Clock,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const request = context.switchToHttp().getRequest<Request>();
    if (PUBLIC.of(context)) {
      if (SHOWS_MORE.of(context)?.(request)) await this.attachKnown(context, request);
      return true;
    }
    const credential = presentedCredential(request.headers);
    // The look-up ignores the failures of the address: a valid secret is never rejected for the guesses of others.
    const caller = credential
      ? await this.findBySecret(credential.secret)
      : await this.findBySession(context, request);
    if (!caller || !isUsableAt(caller, this.clock.now())) {
      await this.rateLimiter.countFailedAuthentication(request.ip ?? '');
      throw new AppError('invalid_credential');
    }
    attachCaller(request, caller);
    return true;
  }

  /** A wrong credential counts as elsewhere: it must not be guessed where it is not needed. */
  private async attachKnown(context: ExecutionContext, request: Request): Promise<void> {
    const credential = presentedCredential(request.headers);
    if (!credential && !mayHaveSession(request.headers)) return;
    const find = credential ? this.findBySecret(credential.secret) : this.findBySession(context, request);
    const caller = await find.catch(orAnonymous);
    if (caller && isUsableAt(caller, this.clock.now())) attachCaller(request, caller);
    else if (credential && caller === null)
      await this.rateLimiter.countFailedAuthentication(request.ip ?? '');
  }

  private async findBySecret(secret: string | null): Promise<Caller | null> {
    return secret === null ? null : this.callers.find(hashKeySecret(secret));
  }

  /**
   * A cookie leaves the browser with every request to this host: it counts only for requests of the
   * console's own pages, and never where a call is charged (docs/contract.md#console).
   */
  private async findBySession(context: ExecutionContext, request: Request): Promise<Caller | null> {
    const { method, headers } = request;
    const mayCount =
      KEY_KIND.of(context)?.kind !== 'inference' && mayHaveSession(headers) && isFromConsole(method, headers);
    const id = mayCount ? presentedSession(headers, await this.installation.tag()) : null;
    if (id === null) throw new AppError('missing_credential');
    return this.sessions.find(id);
  }
}

/** Undefined: the caller cannot be known now. */
function orAnonymous(error: unknown): undefined {
  if (error instanceof AppError && ANONYMOUS.has(error.code)) return undefined;
  throw error;
}

/** Checks that the route allows the caller's kind of key. */
@Injectable()
export class KeyKindGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const rule = KEY_KIND.of(context);
    if (rule && callerOf(context.switchToHttp().getRequest()).key.kind !== rule.kind) {
      throw new AppError(rule.rejection);
    }
    return true;
  }
}

const READING_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Every route has a rate limit, unless it is exempt. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(private readonly rateLimiter: RateLimiter) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    if (RATE_LIMIT_EXEMPT.of(context)) return true;
    const request = context.switchToHttp().getRequest<Request>();
    if (PUBLIC.of(context)) return this.rateLimiter.consumePublic(request.ip ?? '');
    const { key } = callerOf(request);
    if (key.kind === 'inference' || READING_METHODS.has(request.method) || READS_ONLY.of(context))
      return this.rateLimiter.consume(key);
    return this.rateLimiter.consumeChange(key);
  }
}
