// Calls whose spend lease has lapsed before they were settled: other processes may have spent its money. They are charged what
// their limits still have, and the operator pays the rest (docs/contract.md#spend).
import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Metrics } from '../../config/metrics.js';
import type { Generation } from '../../domain/generations/generation.js';
import { atMost, formatUsd, usdToNumber } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import { SpendLease } from '../../domain/spend/spend-lease.js';
import { SpendRelease } from '../../domain/spend/spend-limit.js';
import type { LapsedLease } from '../database/database-errors.js';
import { SpendLedger } from './spend-ledger.js';

interface ReservedCall {
  readonly generation: Generation;
  readonly releases: readonly SpendRelease[];
}

@Injectable()
export class LapsedReservations {
  private readonly logger = new Logger(LapsedReservations.name);
  private readonly calls;
  private readonly overrun;

  constructor(
    private readonly ledger: SpendLedger,
    { registry }: Metrics,
  ) {
    const registers = [registry];
    this.calls = new Counter({
      name: 'signalbox_spend_lapsed_calls_total',
      help: 'Calls that were settled after their spend lease had lapsed: their process was cut off or suspended for too long.',
      registers,
    });
    this.overrun = new Counter({
      name: 'signalbox_spend_lapsed_usd_total',
      help: 'USD of such calls that their limits had no room for any more, and that the operator pays.',
      registers,
    });
  }

  /** The call with money of another lease, which covers the charge as far as the limit allows. */
  async reserveAgain({ generation, releases }: ReservedCall, lapsed: LapsedLease): Promise<ReservedCall> {
    const release = releases.find(({ lease }) => lease.id === lapsed.leaseId);
    if (!release) throw lapsed;
    release.lease.lapse();
    const lease = new SpendLease(release.lease.owner);
    const { granted, limits } = await this.ledger.acquire(lease, {
      needed: 0n,
      wanted: release.amount,
      hasBudget: false,
    });
    const charged = chargedWithin(
      generation,
      granted,
      limits.some(({ includeByok }) => includeByok),
    );
    this.report(charged, costOf(generation) - costOf(charged));
    return {
      generation: charged,
      releases: releases.map((other) => (other === release ? new SpendRelease(lease, granted) : other)),
    };
  }

  private report({ id: generationId, accountId }: Generation, overrun: PicoUsd): void {
    this.calls.inc();
    this.overrun.inc(usdToNumber(overrun));
    this.logger.error(
      { generationId, accountId, overrunUsd: formatUsd(overrun) },
      'a call was settled after its spend lease had lapsed; the operator pays the overrun',
    );
  }
}

/** The charge that `most` covers; `isByokLimited`: calls through own provider keys count towards the limit. */
function chargedWithin(generation: Generation, most: PicoUsd, isByokLimited: boolean): Generation {
  const { isByok, chat } = generation;
  const cost = atMost(generation.cost, most);
  const byokMost = isByok && isByokLimited ? most - (cost ?? 0n) : null;
  const charged = { ...generation, cost, upstreamCost: atMost(generation.upstreamCost, byokMost) };
  const overrun = costOf(generation) - costOf(charged);
  if (overrun === 0n || !chat) return charged;
  return { ...charged, chat: { ...chat, overrun: (chat.overrun ?? 0n) + overrun } };
}

/** As counters count it. */
function costOf({ cost, upstreamCost, isByok }: Generation): PicoUsd {
  return (cost ?? 0n) + (isByok ? (upstreamCost ?? 0n) : 0n);
}
