// Looks for reached thresholds behind the calls: reads which keys the log names since the last scan, then their limits and
// those above them. Calls wait for nothing, and the statements that settle them do no more than before.
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { RepeatedTask } from '../../concurrency/repeated-task.js';
import { Clock } from '../../domain/clock.js';
import { utcDay } from '../../domain/spend/spend.js';
import { BudgetSubjectsRepository } from '../../persistence/notifications/budget-subjects.repository.js';
import type {
  CalledKey,
  ClaimedScan,
  WatchedWorkspace,
} from '../../persistence/notifications/budget-subjects.repository.js';
import { CrossingReporter } from './crossing-reporter.js';
import { NotificationSender } from './notification-sender.js';

const DAY = 86_400_000;
// Milliseconds between the scans of this process, and seconds between those of any two.
const SCAN_INTERVAL = 5_000;
const PAUSE = 4;
// A scan takes a tenth of the time at most, however many workspaces it reads.
const PAUSES_PER_SCAN = 9;
// Workspaces and keys of one statement.
const PAGE = 200;
const MAX_KEYS = 1_000;
// Transactions of the log that a scan reads. Beyond it the counters of all keys are read.
const MAX_TRANSACTIONS = 100_000;
const NIL = '00000000-0000-0000-0000-000000000000';
const START: WatchedWorkspace = { accountId: NIL, workspaceId: NIL };

@Injectable()
export class BudgetScan implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(BudgetScan.name);
  private readonly task = new RepeatedTask(() => this.run());

  constructor(
    private readonly subjects: BudgetSubjectsRepository,
    private readonly reporter: CrossingReporter,
    private readonly sender: NotificationSender,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.task.start(SCAN_INTERVAL);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.task.stop();
  }

  /**
   * Reads the log up to its end, unless another process does so or has done it less than `pause` seconds ago. After a
   * failure or a stop the next scan of any process begins where the last complete one ended.
   */
  async scan(pause = PAUSE, transactions = MAX_TRANSACTIONS): Promise<void> {
    const claim = await this.subjects.beginScan(pause, transactions);
    if (claim === null) return;
    let hasEnded = false;
    try {
      await this.reporter.reportLeftOut();
      if (await this.reportSince(claim)) {
        await this.subjects.endScan(claim);
        hasEnded = true;
      }
    } finally {
      // Without the database the claim ends by itself.
      if (!hasEnded) await this.subjects.releaseScan(claim).catch(() => undefined);
    }
    if (hasEnded) void this.sender.poll();
  }

  /** Resolves with false when the process stops before the end. */
  private async reportSince(claim: ClaimedScan): Promise<boolean> {
    let page: readonly WatchedWorkspace[] = [];
    do {
      page = await this.subjects.listWatched(page.at(-1) ?? START, PAGE);
      if (claim.isBehind) for (const workspace of page) await this.reportSpending(workspace);
      else await this.reportCalled(page, claim);
      if (this.task.isStopping) return false;
    } while (page.length === PAGE);
    return true;
  }

  private async reportCalled(page: readonly WatchedWorkspace[], claim: ClaimedScan): Promise<void> {
    const ids = page.map(({ workspaceId }) => workspaceId);
    const keys = await this.subjects.listCalled(ids, claim, this.aDayAgo());
    const called = new Set(keys.map(({ workspaceId }) => workspaceId));
    const watched = page.filter(({ workspaceId }) => called.has(workspaceId));
    await this.reporter.reportCalled({
      keys,
      workspaceIds: [...called],
      accountIds: [...new Set(watched.map(({ accountId }) => accountId))],
    });
  }

  /** After a long pause, or in a restored log, whose numbers have jumped: by the counters, not by the log. */
  private async reportSpending({ accountId, workspaceId }: WatchedWorkspace): Promise<void> {
    const since = utcDay(this.aDayAgo());
    let keys: readonly CalledKey[] = [];
    do {
      keys = await this.subjects.listSpending(keys.at(-1) ?? { workspaceId, apiKeyId: NIL }, since, MAX_KEYS);
      await this.reporter.reportCalled({ keys, workspaceIds: [workspaceId], accountIds: [accountId] });
    } while (keys.length === MAX_KEYS && !this.task.isStopping);
  }

  private aDayAgo(): Date {
    return new Date(this.clock.now().getTime() - DAY);
  }

  private async run(): Promise<number> {
    const startedAt = performance.now();
    try {
      await this.scan();
    } catch (error) {
      this.logger.warn({ error }, 'failed to look for budget alerts; will retry');
    }
    return Math.max(SCAN_INTERVAL, (performance.now() - startedAt) * PAUSES_PER_SCAN);
  }
}
