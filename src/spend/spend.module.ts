// Limits: what a key may still spend.
import { Module } from '@nestjs/common';
import { SpendGate } from './spend-limiter.js';
import { SpendTermsCache } from './spend-policy-cache.js';

@Module({ providers: [SpendGate, SpendTermsCache], exports: [SpendGate] })
export class SpendModule {}
