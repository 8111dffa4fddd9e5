// Authenticates the caller by its key, or by a session of the console; 401 without a valid one.
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { hashKeySecret, isUsableAt } from '../domain/keys/api-key.js';
import type { Caller } from '../domain/keys/api-key.js';
import { isFromConsole, mayHaveSession, presentedSession } from '../domain/keys/console-session.js';
import { presentedCredential } from '../domain/keys/credential-headers.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import { Installation } from '../persistence/database/installation.js';
import { KEY_KIND, PUBLIC } from './auth.decorators.js';
import { attachCaller } from './caller.js';
import { CallerCache } from './caller-cache.js';
import { RateLimiter } from './rate-limiter.js';
import { SessionCallers } from './session-callers.js';

@Injectable()
export class BearerGuard implements CanActivate {
  constructor(
    private readonly callers: CallerCache,
    private readonly sessions: SessionCallers,
    private readonly installation: Installation,
    private readonly rateLimiter: RateLimiter,
    private readonly clock: Clock,
  ) {}

  /** Returns no promise for a cached caller, as nearly all are. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (PUBLIC.of(context)) return true;
    const request = context.switchToHttp().getRequest<Request>();
    const credential = presentedCredential(request.headers);
    if (!credential) return this.identifySession(context, request);
    const { secret } = credential;
    const secretHash = secret === null ? null : hashKeySecret(secret);
    const known = secretHash === null ? undefined : this.callers.peek(secretHash);
    if (known && this.isValid(known)) {
      attachCaller(request, known);
      return true;
    }
    return this.identify(request, secretHash, known);
  }

  /**
   * A cookie leaves the browser with every request to this host: it counts only for requests of the
   * console's own pages, and never where a call is charged (docs/contract.md#console).
   */
  private async identifySession(context: ExecutionContext, request: Request): Promise<true> {
    const { method, headers } = request;
    const mayCount =
      KEY_KIND.of(context)?.kind !== 'inference' && mayHaveSession(headers) && isFromConsole(method, headers);
    const id = mayCount ? presentedSession(headers, await this.installation.tag()) : null;
    if (id === null) throw new AppError('missing_credential');
    return this.attach(request, this.sessions.find(id));
  }

  private identify(request: Request, secretHash: string | null, known: Caller | undefined): Promise<true> {
    // The look-up ignores the failures of the address: a valid secret is never rejected for the guesses of others.
    return this.attach(request, known ?? (secretHash === null ? null : this.callers.find(secretHash)));
  }

  private async attach(request: Request, found: Caller | null | Promise<Caller | null>): Promise<true> {
    const caller = await found;
    if (!caller || !this.isValid(caller)) {
      await this.rateLimiter.countFailedAuthentication(request.ip ?? '');
      throw new AppError('invalid_credential');
    }
    attachCaller(request, caller);
    return true;
  }

  private isValid(caller: Caller): boolean {
    return isUsableAt(caller, this.clock.now());
  }
}
