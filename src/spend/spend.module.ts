// The spend limits of keys, workspaces and accounts.
import { Module } from '@nestjs/common';
import { SpendLimiter } from './spend-limiter.js';
import { SpendPolicyCache } from './spend-policy-cache.js';

@Module({ providers: [SpendLimiter, SpendPolicyCache], exports: [SpendLimiter] })
export class SpendModule {}
