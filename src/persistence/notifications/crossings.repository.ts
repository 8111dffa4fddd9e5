// Writes the events of reached thresholds, each once, and bounds those of a day (docs/contract.md#notifications).
import { Injectable } from '@nestjs/common';
import { Clock } from '../../domain/clock.js';
import { uuidV7 } from '../../domain/identifiers.js';
import type { BudgetCrossing } from '../../domain/notifications/budget-crossing.js';
import { EVENT_HOURS } from '../../domain/notifications/notification-rule.js';
import { budgetPayload, leftOutPayload } from '../../domain/notifications/notification-payload.js';
import { bundlesOf, takeWithinBound } from '../../domain/notifications/reported-day.js';
import type { ReportedDay } from '../../domain/notifications/reported-day.js';
import { formatUsd } from '../../domain/spend/money.js';
import { limitWindowName } from '../../domain/spend/spend-limit.js';
import { Database } from '../database/database.js';
import type { Run } from '../database/database.js';
import { LIFETIME_START } from './budget-subjects.repository.js';
import { APPEND_EVENTS, LIST_LEFT_OUT, LOCK_REPORTED, MARK_CROSSINGS } from './notification-statements.js';

// Accounts of one statement.
const PAGE = 100;

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
    const createdAt = this.clock.now();
    const toEvent = (
      { accountId, id: ruleId }: Pick<BudgetCrossing['rule'], 'accountId' | 'id'>,
      payloadOf: (identity: { readonly id: string; readonly now: Date }) => string,
    ) => {
      const id = uuidV7(createdAt);
      return { accountId, ruleId, id, payload: payloadOf({ id, now: createdAt }), createdAt };
    };
    const days = locked.map(({ today, ...day }) =>
      day.countedOn === today
        ? day
        : { ...day, countedOn: today, reportedKeys: 0, reportedOthers: 0, leftOut: 0 },
    );
    const events = [
      ...locked
        .filter(({ countedOn, today, leftOut }) => countedOn !== today && leftOut > 0)
        .map(({ accountId, ruleId, countedOn: day, leftOut }) => {
          const rule = { accountId, id: ruleId };
          return toEvent(rule, (identity) => leftOutPayload(rule, { day, leftOut }, identity));
        }),
      ...bundlesOf(takeWithinBound(crossings, days)).map((some) =>
        toEvent(some[0].rule, (identity) => budgetPayload(some, identity)),
      ),
    ];
    await run({
      name: 'append-notification-events',
      text: APPEND_EVENTS,
      values: [JSON.stringify(events), EVENT_HOURS, JSON.stringify(days)],
    });
    return events.length;
  }
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
