// The matches of content filters in a call that was made: what was replaced, and what was counted.
import type { FilterAction } from './content-filter.js';

/** The calls that a guardrail governs: all of a workspace, those of the keys of a member, or those of one key. */
export const GUARDRAIL_SCOPES = ['workspace', 'member', 'api_key'] as const;
export type GuardrailScope = (typeof GUARDRAIL_SCOPES)[number];

/** As errors and records name it. */
export interface NamedGuardrail {
  readonly id: string;
  readonly name: string;
  readonly scope: GuardrailScope;
}

/** All matches of one filter in one call. */
export interface GuardrailHit extends NamedGuardrail {
  /** Label or slug of the filter; else its index. */
  readonly filter: string;
  readonly action: FilterAction;
  readonly count: number;
}

/** The most that a call is recorded with: three guardrails with all of their filters. */
export const MAX_GUARDRAIL_HITS = 100;

/** Counts the matches of one call. */
export class CallHits {
  private readonly counts = new Map<string, GuardrailHit>();

  add({ id, name, scope }: NamedGuardrail, filter: string, action: FilterAction, matches: number): void {
    const key = `${id} ${scope} ${action} ${filter}`;
    const known = this.counts.get(key);
    if (!known && this.counts.size >= MAX_GUARDRAIL_HITS) return;
    const count = (known?.count ?? 0) + matches;
    this.counts.set(key, { id, name, scope, filter, action, count });
  }

  /** Undefined: none. */
  get found(): readonly GuardrailHit[] | undefined {
    return this.counts.size === 0 ? undefined : [...this.counts.values()];
  }
}

/** All matches of one filter in one UTC day, of calls that were refused as well. */
export interface DailyHit {
  readonly workspaceId: string;
  readonly guardrailId: string;
  readonly day: string;
  readonly action: FilterAction;
  readonly filter: string;
  readonly hits: number;
}

/** Days of the matches that operators see. */
export const HIT_DAYS = 7;

export interface GuardrailUsage {
  readonly guardrailId: string;
  readonly keyCount: number;
  readonly memberCount: number;
  /** Of the last HIT_DAYS days, the most first. */
  readonly hits: readonly Pick<DailyHit, 'action' | 'filter' | 'hits'>[];
}
