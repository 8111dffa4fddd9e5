// The limits that have refused a call of this process, for budget alerts (docs/contract.md#notifications).
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { capacityFor } from '../domain/cache-capacity.js';
import type { LimitShortfall, RefusingLimit } from '../domain/spend/spend-limit.js';

// Limits that wait to be reported. Beyond it a limit is noted at a later refusal.
const MAX_NOTED = 1_000;
// Milliseconds in which a limit is noted once, and limits that are remembered for it.
const PAUSE = 10_000;
const MAX_RECENT = 10_000;

@Injectable()
export class RefusedLimits {
  /** By owner and window: a limit whose report has failed may refuse again before the next one. */
  private readonly noted = new Map<string, RefusingLimit>();
  private readonly recent = new LRUCache<string, true>({ ...capacityFor(MAX_RECENT), ttl: PAUSE });

  note({ owner, tightest }: LimitShortfall): void {
    const { kind, id, workspaceId } = owner;
    if (kind === 'guardrail' || tightest === null || this.noted.size >= MAX_NOTED) return;
    const limit = { kind, id, workspaceId, window: tightest.window };
    const name = nameOf(limit);
    if (this.recent.has(name)) return;
    this.recent.set(name, true);
    this.noted.set(name, limit);
  }

  /** Returns the noted limits, once. */
  drain(): readonly RefusingLimit[] {
    const limits = [...this.noted.values()];
    this.noted.clear();
    return limits;
  }

  /** Notes limits again whose report has failed. */
  keep(limits: readonly RefusingLimit[]): void {
    for (const limit of limits.slice(0, MAX_NOTED - this.noted.size)) this.noted.set(nameOf(limit), limit);
  }
}

function nameOf({ id, window }: RefusingLimit): string {
  return `${id} ${window}`;
}
