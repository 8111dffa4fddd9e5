// The three guards of every route: caller, kind of key or right of a person, rate limit.
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { hashKeySecret, isUsableAt } from '../domain/keys/api-key.js';
import type { Caller } from '../domain/keys/api-key.js';
import type { SessionCaller, SessionPerson } from '../domain/people/console-session.js';
import { managerByPerson } from '../domain/people/manager.js';
import type { PersonManager } from '../domain/people/manager.js';
import type { Person } from '../domain/people/person.js';
import { reachOf, roleRefused } from '../domain/people/rights.js';
import { isFromConsole, mayHaveSession, presentedSession } from '../domain/people/console-session.js';
import { presentedCredential } from '../domain/keys/credential-headers.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import type { ErrorCode } from '../domain/errors.js';
import { Installation } from '../persistence/database/installation.js';
import {
  KEY_KIND,
  PUBLIC,
  RATE_LIMIT_EXEMPT,
  READS_ONLY,
  RIGHT,
  SHOWS_MORE,
  FOR_EVERYONE,
} from './auth.decorators.js';
import { attachCaller, attachManager, attachPerson, callerOf, findPerson } from './caller.js';
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
    if (this.attach(request, caller)) return true;
    await this.rateLimiter.countFailedAuthentication(request.ip ?? '');
    throw new AppError('invalid_credential');
  }

  /** A wrong credential counts as elsewhere: it must not be guessed where it is not needed. */
  private async attachKnown(context: ExecutionContext, request: Request): Promise<void> {
    const credential = presentedCredential(request.headers);
    if (!credential && !mayHaveSession(request.headers)) return;
    const find = credential ? this.findBySecret(credential.secret) : this.findBySession(context, request);
    const caller = await find.catch(orAnonymous);
    const isAttached = caller !== undefined && this.attach(request, caller);
    if (!isAttached && credential && caller === null)
      await this.rateLimiter.countFailedAuthentication(request.ip ?? '');
  }

  /** False: the credential is not valid. */
  private attach(request: Request, found: Caller | SessionPerson | null): boolean {
    if (found === null) return false;
    if ('person' in found) {
      attachPerson(request, found);
      return true;
    }
    if (!isUsableAt(found, this.clock.now())) return false;
    attachCaller(request, found);
    return true;
  }

  private async findBySecret(secret: string | null): Promise<Caller | null> {
    return secret === null ? null : this.callers.find(hashKeySecret(secret));
  }

  /**
   * A cookie leaves the browser with every request to this host: it counts only for requests of the
   * console's own pages, and never where a call is charged (docs/contract.md#console).
   */
  private async findBySession(
    context: ExecutionContext,
    request: Request,
  ): Promise<SessionCaller | SessionPerson | null> {
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

/** Checks that the route allows the caller's kind of key, or that the person's role has the right of the route. */
@Injectable()
export class KeyKindGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const rule = KEY_KIND.of(context);
    if (PUBLIC.of(context) || FOR_EVERYONE.of(context)) return true;
    const person = findPerson(request);
    if (person) attachManager(request, managerOfPerson(context, person));
    else if (rule && callerOf(request).key.kind !== rule.kind) throw new AppError(rule.rejection);
    return true;
  }
}

/** A route without a right is denied to people: a new one must state which role it is for. */
function managerOfPerson(context: ExecutionContext, person: Person): PersonManager {
  const right = RIGHT.of(context);
  const reach = right === undefined ? null : reachOf(person, right);
  if (reach !== null) return managerByPerson(person, reach);
  throw right === undefined
    ? new AppError('role_refused', { detail: 'the operation is for keys' })
    : roleRefused(right);
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
    const requester = findPerson(request) ?? callerOf(request).key;
    const isInference = 'kind' in requester && requester.kind === 'inference';
    if (isInference || READING_METHODS.has(request.method) || READS_ONLY.of(context))
      return this.rateLimiter.consume(requester);
    return this.rateLimiter.consumeChange(requester);
  }
}
