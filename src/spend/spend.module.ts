// Limits: what a key may still spend.
import { Module } from '@nestjs/common';
import { SpendGate } from './spend-gate.js';
import { SpendTermsCache } from './spend-terms-cache.js';

@Module({ providers: [SpendGate, SpendTermsCache], exports: [SpendGate] })
export class SpendModule {}
