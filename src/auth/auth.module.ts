// The three guards of every route, in the order in which they run.
import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { BearerGuard, KeyKindGuard, RateLimitGuard } from './guards.js';
import { CallerCache, PeopleCache, SessionCallers } from './caller-cache.js';
import { RateLimiter } from './rate-limiter.js';

@Module({
  providers: [
    CallerCache,
    PeopleCache,
    RateLimiter,
    SessionCallers,
    { provide: APP_GUARD, useClass: BearerGuard },
    { provide: APP_GUARD, useClass: KeyKindGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
  ],
  exports: [CallerCache, PeopleCache, RateLimiter, SessionCallers],
})
export class AuthModule {}
