// Runs the rollups of the log in the background: by day for /activity, by hour for analytics, of end users too.
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { Clock } from '../domain/clock.js';
import {
  ActivityRollupRepository,
  UsageRollupRepository,
  UserRollupRepository,
} from '../persistence/activity/activity-rollup.repository.js';
import type { PeriodRollupRepository } from '../persistence/activity/activity-rollup.repository.js';
import type { RollupRepository, StepBounds } from '../persistence/rollups/rollup.repository.js';
import { ACTIVITY_SUMMED_DAYS } from '../persistence/activity/activity-statements.js';
import { SUMMED_DAYS } from '../persistence/activity/usage-statements.js';

const DAY = 86_400_000;
// Seconds from the end of a pass to the next, of any process.
const PAUSE = 45;
// Milliseconds.
const CHECK_INTERVAL = 60_000;
// Steps are short, so that their locks and transactions delay no others.
const STEP: StepBounds = { workspaces: 500, rows: 10_000 };

@Injectable()
export class ActivityRollup implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(ActivityRollup.name);
  private readonly task = RepeatedTask.every(
    CHECK_INTERVAL,
    () => this.catchUp(),
    (error) => this.logger.warn({ error }, 'failed to sum up the activity; will retry'),
  );

  constructor(
    private readonly activity: ActivityRollupRepository,
    private readonly usage: UsageRollupRepository,
    private readonly users: UserRollupRepository,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.task.start(CHECK_INTERVAL);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.task.stop();
  }

  /**
   * Finishes the current pass of each rollup, or runs one if it is due. Stops when another process has moved the
   * cursor. A rollup that fails does not hold the others back.
   */
  async catchUp(pause = PAUSE, step = STEP): Promise<void> {
    const results = await Promise.allSettled([
      this.sumUp(this.activity, ACTIVITY_SUMMED_DAYS, pause, step),
      ...[this.usage, this.users].map((rollup) =>
        this.sumUp(rollup, SUMMED_DAYS, pause, step).then(() => this.removeExpired(rollup)),
      ),
    ]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  private async sumUp(
    rollup: RollupRepository,
    days: number,
    pause: number,
    step: StepBounds,
  ): Promise<void> {
    const since = new Date(this.clock.now().getTime() - days * DAY);
    let cursor = await rollup.beginPass(pause);
    while (!this.task.isStopping && cursor.summedBefore !== cursor.passUntil) {
      const next = await rollup.takeStep(cursor, since, step);
      if (next === null) return;
      cursor = next;
    }
  }

  private async removeExpired(rollup: PeriodRollupRepository): Promise<void> {
    let hasMore = true;
    while (hasMore && !this.task.isStopping) hasMore = await rollup.removeExpired(this.clock.now());
  }
}
