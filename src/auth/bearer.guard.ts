// Authenticates the caller; 401 without a valid key.
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { hashKeySecret, isUsableAt } from '../domain/keys/api-key.js';
import type { Caller } from '../domain/keys/api-key.js';
import { presentedCredential } from '../domain/keys/credential-headers.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import { PUBLIC } from './auth.decorators.js';
import { attachCaller } from './caller.js';
import { CallerCache } from './caller-cache.js';
import { RateLimiter } from './rate-limiter.js';

@Injectable()
export class BearerGuard implements CanActivate {
  constructor(
    private readonly callers: CallerCache,
    private readonly rateLimiter: RateLimiter,
    private readonly clock: Clock,
  ) {}

  /** Returns no promise for a cached caller, as nearly all are. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (PUBLIC.of(context)) return true;
    const request = context.switchToHttp().getRequest<Request>();
    const credential = presentedCredential(request.headers);
    if (!credential) throw new AppError('missing_credential');
    const { secret } = credential;
    const secretHash = secret === null ? null : hashKeySecret(secret);
    const known = secretHash === null ? undefined : this.callers.peek(secretHash);
    if (known && this.isValid(known)) {
      attachCaller(request, known);
      return true;
    }
    return this.identify(request, secretHash, known);
  }

  private async identify(
    request: Request,
    secretHash: string | null,
    known: Caller | undefined,
  ): Promise<true> {
    // The look-up ignores the failures of the address: a valid secret is never rejected for the guesses of others.
    const caller = known ?? (secretHash === null ? null : await this.callers.find(secretHash));
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
