// Writes the events of reached thresholds, each once, and bounds those of a day (docs/contract.md#notifications).
import { Injectable } from '@nestjs/common';
import { chunksOf } from '../../domain/chunks.js';
import { Clock } from '../../domain/clock.js';
import { uuidV7 } from '../../domain/identifiers.js';
import type { BudgetCrossing } from '../../domain/notifications/budget-crossing.js';
import { EVENT_HOURS } from '../../domain/notifications/notification-rule.js';
import { budgetPayload, leftOutPayload } from '../../domain/notifications/notification-payload.js';
import { formatUsd } from '../../domain/spend/money.js';
import { limitWindowName } from '../../domain/spend/spend-limit.js';
import { Database } from '../database/database.js';
import type { Run } from '../database/database.js';
import { LIFETIME_START } from './budget-subjects.repository.js';
import { APPEND_EVENTS, LIST_LEFT_OUT, LOCK_REPORTED, MARK_CROSSINGS } from './notification-statements.js';

/** Reached thresholds of an account's keys that are reported in a UTC day; as many of its budgets and credits. */
export const MAX_REPORTED_A_DAY = 10_000;
/** Crossings of keys in one event. */
export const MAX_CROSSINGS_OF_EVENT = 100;
// Accounts of one statement.
const PAGE = 100;

/** The counts of a rule in a UTC day. */
interface ReportedDay {
  readonly accountId: string;
  readonly ruleId: string;
  readonly countedOn: string;
  reportedKeys: number;
  reportedOthers: number;
  leftOut: number;
}

interface NewEvent {
  readonly accountId: string;
  readonly ruleId: string;
  readonly id: string;
  readonly payload: string;
}

@Injectable()
export class CrossingsRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Writes events for the crossings that their rules have not reported in the window: one for up to 100 keys of a rule,
   * one for each other limit. Two crossings of a list have different rules or limits. Returns the number of events.
   */
  async report(crossings: readonly BudgetCrossing[]): Promise<number> {
    const rows = crossings.map((crossing, position) => ({ position, ...toRow(crossing) }));
    return this.database.writeWithin(async (run) => {
      const marked = await run<{ position: number }>({
        name: 'mark-crossings',
        text: MARK_CROSSINGS,
        values: [JSON.stringify(rows)],
      });
      const positions = new Set(marked.map(({ position }) => position));
      return positions.size === 0
        ? 0
        : this.append(
            run,
            crossings.filter((_crossing, position) => positions.has(position)),
          );
    });
  }

  /** Reports what was left out on days that are over. Returns the number of events. */
  async reportLeftOut(): Promise<number> {
    const accounts = await this.database.query<{ accountId: string }>({
      name: 'list-left-out-alerts',
      text: LIST_LEFT_OUT,
      values: [PAGE],
    });
    if (accounts.length === 0) return 0;
    return this.database.writeWithin((run) =>
      this.append(
        run,
        [],
        accounts.map(({ accountId }) => accountId),
      ),
    );
  }

  private async append(
    run: Run,
    crossings: readonly BudgetCrossing[],
    accountIds: readonly string[] = [...new Set(crossings.map(({ rule }) => rule.accountId))],
  ): Promise<number> {
    const locked = await run<ReportedDay & { readonly today: string }>({
      name: 'lock-reported-alerts',
      text: LOCK_REPORTED,
      values: [accountIds],
    });
    const now = this.clock.now();
    const events: NewEvent[] = [];
    const days = locked.map(({ today, ...day }): ReportedDay => {
      if (day.countedOn === today) return day;
      const { accountId, ruleId, leftOut } = day;
      if (leftOut > 0) {
        const id = uuidV7(now);
        const left = { day: day.countedOn, leftOut };
        const payload = leftOutPayload({ id: ruleId, accountId }, left, { id, now });
        events.push({ accountId, ruleId, id, payload });
      }
      return { accountId, ruleId, countedOn: today, reportedKeys: 0, reportedOthers: 0, leftOut: 0 };
    });
    for (const some of bundlesOf(takeWithinBound(crossings, days))) {
      const [first] = some;
      if (!first) continue;
      const id = uuidV7(now);
      const payload = budgetPayload(some, { id, now });
      events.push({ accountId: first.rule.accountId, ruleId: first.rule.id, id, payload });
    }
    const newRows = events.map(({ accountId, ruleId, id, payload }) => ({
      account_id: accountId,
      rule_id: ruleId,
      id,
      payload,
      created_at: now,
    }));
    const dayRows = days.map(({ accountId, ruleId, countedOn, reportedKeys, reportedOthers, leftOut }) => ({
      account_id: accountId,
      rule_id: ruleId,
      counted_on: countedOn,
      reported_keys: reportedKeys,
      reported_others: reportedOthers,
      left_out: leftOut,
    }));
    await run({
      name: 'append-notification-events',
      text: APPEND_EVENTS,
      values: [JSON.stringify(newRows), EVENT_HOURS, JSON.stringify(dayRows)],
    });
    return events.length;
  }
}

/** The crossings that fit the bounds of their accounts; `days` count them and the others. */
function takeWithinBound(
  crossings: readonly BudgetCrossing[],
  days: readonly ReportedDay[],
): readonly BudgetCrossing[] {
  const byRule = new Map(days.map((day) => [day.ruleId, day]));
  const reported = new Map<string, number>();
  const count = (accountId: string, column: 'reportedKeys' | 'reportedOthers', more: number): number => {
    const name = `${accountId} ${column}`;
    const sum = (reported.get(name) ?? 0) + more;
    reported.set(name, sum);
    return sum;
  };
  for (const { accountId, reportedKeys, reportedOthers } of days) {
    count(accountId, 'reportedKeys', reportedKeys);
    count(accountId, 'reportedOthers', reportedOthers);
  }
  return crossings.filter(({ rule, subject }) => {
    const day = byRule.get(rule.id);
    if (!day) return false;
    const column = subject.cover === 'keys' ? 'reportedKeys' : 'reportedOthers';
    const fits = count(rule.accountId, column, 0) < MAX_REPORTED_A_DAY;
    if (fits) {
      count(rule.accountId, column, 1);
      day[column] += 1;
    } else day.leftOut += 1;
    return fits;
  });
}

/** The crossings of each event: keys of one rule together, every other limit alone. */
function bundlesOf(crossings: readonly BudgetCrossing[]): readonly (readonly BudgetCrossing[])[] {
  const ofRules = new Map<string, BudgetCrossing[]>();
  const alone: BudgetCrossing[][] = [];
  for (const crossing of crossings) {
    const of = crossing.subject.cover === 'keys' ? ofRules.get(crossing.rule.id) : undefined;
    if (of) of.push(crossing);
    else if (crossing.subject.cover === 'keys') ofRules.set(crossing.rule.id, [crossing]);
    else alone.push([crossing]);
  }
  const together = [...ofRules.values()].flatMap((some) => chunksOf(some, MAX_CROSSINGS_OF_EVENT));
  return [...alone, ...together];
}

function toRow({ rule, subject, threshold, windowStart }: BudgetCrossing): object {
  return {
    account_id: rule.accountId,
    rule_id: rule.id,
    subject_id: subject.id,
    interval: limitWindowName(subject),
    window_start: windowStart ?? LIFETIME_START,
    limit_amount: formatUsd(subject.limit),
    threshold,
    workspace_id: subject.workspaceId,
    api_key_id: subject.cover === 'keys' ? subject.id : null,
  };
}
