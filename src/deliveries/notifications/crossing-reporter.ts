// Reports the thresholds that limits have reached, each once a window and rule (docs/contract.md#notifications).
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { capacityFor } from '../../domain/cache-capacity.js';
import { Clock } from '../../domain/clock.js';
import { findCrossings } from '../../domain/notifications/budget-crossing.js';
import type { BudgetCrossing, BudgetSubject } from '../../domain/notifications/budget-crossing.js';
import type { RefusingLimit } from '../../domain/spend/spend-limit.js';
import { BudgetSubjectsRepository } from '../../persistence/notifications/budget-subjects.repository.js';
import type { BudgetOwners } from '../../persistence/notifications/budget-subjects.repository.js';
import { CrossingsRepository } from '../../persistence/notifications/crossings.repository.js';
import { NotificationMetrics } from './notification-metrics.js';

const COVERS = { key: 'keys', workspace: 'workspace_budgets', account: 'credits' } as const;

// Crossings that this process has reported. Beyond it the oldest are looked up in the database again, which knows them.
const MAX_REPORTED = 50_000;

@Injectable()
export class CrossingReporter {
  /** Spares a statement for each call of a key above a threshold. */
  private readonly reported = new LRUCache<string, true>(capacityFor(MAX_REPORTED));

  constructor(
    private readonly subjects: BudgetSubjectsRepository,
    private readonly crossings: CrossingsRepository,
    private readonly metrics: NotificationMetrics,
    private readonly clock: Clock,
  ) {}

  /** Reports the limits of owners that were called. */
  async reportCalled(owners: BudgetOwners): Promise<void> {
    await this.report(await this.subjects.readSubjects(owners), false);
  }

  /** Reports limits that refused a call. */
  async reportRefusals(limits: readonly RefusingLimit[]): Promise<void> {
    // Each owner once, whichever of its limits refused: the report takes no crossing twice.
    const of = (kind: RefusingLimit['kind']): readonly RefusingLimit[] => [
      ...new Map(limits.filter((limit) => limit.kind === kind).map((limit) => [limit.id, limit])).values(),
    ];
    const subjects = await this.subjects.readSubjects({
      keys: of('key').map(({ workspaceId, id }) => ({ workspaceId, apiKeyId: id })),
      workspaceIds: of('workspace').map(({ id }) => id),
      accountIds: of('account').map(({ id }) => id),
    });
    // A workspace has other budgets beside the one that refused.
    const refusing = subjects.filter(({ cover, id, window }) =>
      limits.some((limit) => COVERS[limit.kind] === cover && limit.id === id && limit.window === window),
    );
    await this.report(refusing, true);
  }

  /** Reports how many thresholds were left out on days that are over. */
  async reportLeftOut(): Promise<void> {
    this.metrics.countReported(await this.crossings.reportLeftOut());
  }

  private async report(subjects: readonly BudgetSubject[], isRefused: boolean): Promise<void> {
    if (subjects.length === 0) return;
    const rules = await this.subjects.listRules([...new Set(subjects.map(({ accountId }) => accountId))]);
    const now = this.clock.now();
    const crossings = subjects
      .flatMap((subject) => findCrossings(subject, rules, { now, isRefused }))
      .filter((crossing) => !this.reported.has(nameOf(crossing)));
    if (crossings.length === 0) return;
    this.metrics.countReported(await this.crossings.report(crossings));
    for (const crossing of crossings) this.reported.set(nameOf(crossing), true);
  }
}

function nameOf({ rule, subject, threshold, windowStart }: BudgetCrossing): string {
  const { id, window, limit } = subject;
  // A rule that was disabled at the moment of the report may be enabled since.
  return [rule.id, rule.version, id, window, windowStart?.getTime() ?? '', limit, threshold].join(' ');
}
