// Limits: what a key may still spend.
import { Module } from '@nestjs/common';
import { SpendGate } from './spend-gate.js';

@Module({ providers: [SpendGate], exports: [SpendGate] })
export class SpendModule {}
