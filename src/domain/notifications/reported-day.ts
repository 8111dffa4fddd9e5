// The bound of the thresholds that an account reports in a UTC day, and the events that they share
// (docs/contract.md#notifications).
import type { BudgetCrossing } from './budget-crossing.js';

/** Reached thresholds of an account's keys that are reported in a UTC day; as many of its budgets and credits. */
export const MAX_REPORTED_A_DAY = 10_000;
// Crossings of keys in one event.
const MAX_CROSSINGS_OF_EVENT = 100;

/** Those of one event. */
export type Crossings = readonly [BudgetCrossing, ...BudgetCrossing[]];

/** The counts of a rule in a UTC day. */
export interface ReportedDay {
  readonly accountId: string;
  readonly ruleId: string;
  readonly countedOn: string;
  reportedKeys: number;
  reportedOthers: number;
  leftOut: number;
}

/** The crossings that fit the bounds of their accounts. Counts them and the others in `days`, those of all rules of the accounts. */
export function takeWithinBound(
  crossings: readonly BudgetCrossing[],
  days: readonly ReportedDay[],
): readonly BudgetCrossing[] {
  const byRule = new Map(days.map((day) => [day.ruleId, day]));
  const room = new Map<string, number>();
  for (const day of days)
    for (const column of ['reportedKeys', 'reportedOthers'] as const) {
      const name = `${day.accountId} ${column}`;
      room.set(name, (room.get(name) ?? MAX_REPORTED_A_DAY) - day[column]);
    }
  return crossings.filter(({ rule, subject }) => {
    const day = byRule.get(rule.id);
    if (!day) return false;
    const column = subject.cover === 'keys' ? 'reportedKeys' : 'reportedOthers';
    const name = `${rule.accountId} ${column}`;
    const left = room.get(name) ?? 0;
    if (left <= 0) {
      day.leftOut++;
      return false;
    }
    room.set(name, left - 1);
    day[column]++;
    return true;
  });
}

/** The crossings of each event: keys of one rule together, every other limit alone. */
export function bundlesOf(crossings: readonly BudgetCrossing[]): readonly Crossings[] {
  const bundles: Crossings[] = [];
  /** By rule: the bundle of keys that still has room. */
  const open = new Map<string, [BudgetCrossing, ...BudgetCrossing[]]>();
  for (const crossing of crossings) {
    const { rule, subject } = crossing;
    const isOfKey = subject.cover === 'keys';
    const bundle = isOfKey ? open.get(rule.id) : undefined;
    if (bundle && bundle.length < MAX_CROSSINGS_OF_EVENT) bundle.push(crossing);
    else {
      const begun: [BudgetCrossing] = [crossing];
      bundles.push(begun);
      if (isOfKey) open.set(rule.id, begun);
    }
  }
  return bundles;
}
