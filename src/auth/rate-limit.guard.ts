// Rate limit of every route, unless the route is exempt.
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { PUBLIC, RATE_LIMIT_EXEMPT, READS_ONLY } from './auth.decorators.js';
import { callerOf } from './caller.js';
import { RateLimiter } from './rate-limiter.js';

const READING_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

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
