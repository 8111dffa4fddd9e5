// The limits that have refused a call of this process, for budget alerts (docs/contract.md#notifications). In memory: the
// answer waits for nothing, and a limit that stops calls refuses the next one as well.
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { capacityFor } from '../domain/cache-capacity.js';
import type { RefusingLimit } from '../domain/spend/spend-limit.js';
import type { ReachedLimit } from './reached-limits.js';

// Limits that wait to be reported. Beyond it a limit is noted at a later refusal.
const MAX_NOTED = 1_000;
// Milliseconds in which a limit is noted once, and limits that are remembered for it.
const PAUSE = 10_000;
const MAX_RECENT = 10_000;

@Injectable()
export class RefusedLimits {
  private noted: RefusingLimit[] = [];
  private readonly recent = new LRUCache<string, true>({ ...capacityFor(MAX_RECENT), ttl: PAUSE });

  note({ owner, tightest }: ReachedLimit): void {
    if (tightest === null || this.noted.length >= MAX_NOTED) return;
    const { window } = tightest;
    const name = `${owner.id} ${window}`;
    if (this.recent.has(name)) return;
    this.recent.set(name, true);
    this.noted.push({ ...owner, window });
  }

  /** Returns the noted limits, once. */
  drain(): readonly RefusingLimit[] {
    return this.noted.splice(0);
  }

  /** Notes limits again whose report has failed. */
  keep(limits: readonly RefusingLimit[]): void {
    this.noted.push(...limits.slice(0, MAX_NOTED - this.noted.length));
  }
}
