// Limits: what a key may still spend.
import { Module } from '@nestjs/common';
import { SpendLimiter } from './spend-limiter.js';
import { SpendPolicyCache } from './spend-policy-cache.js';

@Module({ providers: [SpendLimiter, SpendPolicyCache], exports: [SpendLimiter] })
export class SpendModule {}
