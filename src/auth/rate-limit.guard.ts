// Asks: has this key any requests left in this minute?
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { RATE_LIMITED } from './auth.decorators.js';
import { callerOf } from './caller.js';
import { RateLimiter } from './rate-limiter.js';

@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(private readonly rateLimiter: RateLimiter) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    if (!RATE_LIMITED.of(context)) return true;
    return this.rateLimiter.consume(callerOf(context.switchToHttp().getRequest()).key);
  }
}
