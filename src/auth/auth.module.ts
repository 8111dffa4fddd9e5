// The three guards of every route, in the order in which they run.
import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { BearerGuard } from './bearer.guard.js';
import { CallerCache } from './caller-cache.js';
import { KeyKindGuard } from './key-kind.guard.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { RateLimiter } from './rate-limiter.js';
import { SessionCallers } from './session-callers.js';

@Module({
  providers: [
    CallerCache,
    RateLimiter,
    SessionCallers,
    { provide: APP_GUARD, useClass: BearerGuard },
    { provide: APP_GUARD, useClass: KeyKindGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
  ],
  exports: [CallerCache, RateLimiter, SessionCallers],
})
export class AuthModule {}
