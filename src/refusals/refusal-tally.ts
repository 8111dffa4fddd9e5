// Counts refused calls in memory until they are stored: one number for each key, reason and minute, and some of them one by
// one. A key that is refused ten thousand times a second takes the memory and the rows of one that is refused some twenty
// times.
import { OTHER_KEYS, NEWEST_REFUSALS } from '../domain/keys/refusal.js';
import type { Refusal, RefusalCount, RefusalReason } from '../domain/keys/refusal.js';
import type { ApiKey } from '../domain/keys/api-key.js';
import type { Mutable } from '../domain/members.js';

const MINUTE = 60_000;
const HOUR = 3_600_000;
// Keys and reasons in an hour: of an account, and of all accounts. The rest is counted for OTHER_KEYS.
const MAX_OF_ACCOUNT = 1_000;
const MAX_OF_PROCESS = 20_000;
// Refusals one by one between two drains: of a key and reason, and of all accounts. Beyond it they are counted alone.
const MAX_DETAILS_OF_KEY = 20;
const MAX_DETAILS = 2_000;
// Counts that wait to be stored. Beyond it those that could not be stored are lost.
const MAX_COUNTS = 50_000;

export class RefusalTally {
  private counts = new Map<string, Mutable<RefusalCount>>();
  private details = new Map<string, Refusal[]>();
  private detailCount = 0;
  /** Keys and reasons by account, in the hour. */
  private readonly known = new Map<string, Set<string>>();
  private knownCount = 0;
  private hour = 0;

  note(
    { id, accountId, workspaceId }: Pick<ApiKey, 'id' | 'accountId' | 'workspaceId'>,
    reason: RefusalReason,
    at: Date,
    describe: () => Refusal,
  ): void {
    const minute = Math.floor(at.getTime() / MINUTE);
    const name = `${workspaceId} ${id} ${reason} ${minute}`;
    let count = this.counts.get(name);
    if (!count) {
      const apiKeyId = this.isWithinBounds(accountId, `${id} ${reason}`, minute) ? id : OTHER_KEYS;
      count = this.countOf({ workspaceId, apiKeyId, reason, minute: new Date(minute * MINUTE) }, at);
    }
    const before = count.refusals++;
    if (at > count.lastAt) count.lastAt = at;
    if (before < MAX_DETAILS_OF_KEY) this.keepDetails(accountId, describe);
  }

  /** Returns what was noted since the last call. */
  drain(): { readonly counts: readonly RefusalCount[]; readonly newest: readonly Refusal[] } {
    const drained = { counts: [...this.counts.values()], newest: [...this.details.values()].flat() };
    this.counts = new Map();
    this.details = new Map();
    this.detailCount = 0;
    return drained;
  }

  /** Counts again that could not be stored. */
  keep(counts: readonly RefusalCount[]): void {
    for (const kept of counts.slice(0, Math.max(0, MAX_COUNTS - this.counts.size))) {
      const count = this.countOf(kept, kept.firstAt);
      count.refusals += kept.refusals;
      if (kept.firstAt < count.firstAt) count.firstAt = kept.firstAt;
      if (kept.lastAt > count.lastAt) count.lastAt = kept.lastAt;
    }
  }

  private countOf(
    {
      workspaceId,
      apiKeyId,
      reason,
      minute,
    }: Pick<RefusalCount, 'workspaceId' | 'apiKeyId' | 'reason' | 'minute'>,
    at: Date,
  ): Mutable<RefusalCount> {
    const name = `${workspaceId} ${apiKeyId} ${reason} ${minute.getTime() / MINUTE}`;
    const known = this.counts.get(name);
    if (known) return known;
    const count = { workspaceId, apiKeyId, reason, minute, refusals: 0, firstAt: at, lastAt: at };
    this.counts.set(name, count);
    return count;
  }

  private isWithinBounds(accountId: string, keyAndReason: string, minute: number): boolean {
    const hour = Math.floor((minute * MINUTE) / HOUR);
    if (hour !== this.hour) {
      this.hour = hour;
      this.known.clear();
      this.knownCount = 0;
    }
    const known = this.known.get(accountId) ?? new Set<string>();
    if (known.has(keyAndReason)) return true;
    if (known.size >= MAX_OF_ACCOUNT || this.knownCount >= MAX_OF_PROCESS) return false;
    this.known.set(accountId, known.add(keyAndReason));
    this.knownCount++;
    return true;
  }

  private keepDetails(accountId: string, describe: () => Refusal): void {
    if (this.detailCount >= MAX_DETAILS) return;
    const details = this.details.get(accountId) ?? [];
    if (details.length >= NEWEST_REFUSALS) return;
    details.push(describe());
    this.details.set(accountId, details);
    this.detailCount++;
  }
}
