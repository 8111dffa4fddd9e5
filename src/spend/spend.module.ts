// The spend limits of keys, workspaces and accounts, and the bills of providers that no caller pays.
import { Module } from '@nestjs/common';
import { ReachedLimits } from './reached-limits.js';
import { SpendLimiter } from './spend-limiter.js';
import { SpendPolicyCache } from './spend-policy-cache.js';
import { UnpaidLimit } from './unpaid-limit.js';
import { UnpaidCosts } from './unpaid-costs.js';

@Module({
  providers: [ReachedLimits, SpendLimiter, SpendPolicyCache, UnpaidCosts, UnpaidLimit],
  exports: [SpendLimiter, UnpaidCosts],
})
export class SpendModule {}
