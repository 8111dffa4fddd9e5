// Runs the rollups of the log in the background: by day for /activity, by hour for analytics.
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import {
  ActivityRollupRepository,
  UsageRollupRepository,
} from '../persistence/activity/activity-rollup.repository.js';
import type { RollupRepository, StepBounds } from '../persistence/activity/activity-rollup.repository.js';
import { ACTIVITY_SUMMED_DAYS } from '../persistence/activity/activity-statements.js';
import { SUMMED_DAYS } from '../persistence/activity/usage-statements.js';

const DAY = 86_400_000;
// Seconds from the end of a pass to the next, of any process.
const PAUSE = 45;
// Milliseconds.
const LOOK_INTERVAL = 60_000;
// Steps are short, so that their locks and transactions delay no others.
const STEP: StepBounds = { workspaces: 500, rows: 10_000 };

@Injectable()
export class ActivityRollup implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(ActivityRollup.name);
  private timer: NodeJS.Timeout | null = null;
  private looking: Promise<void> | null = null;
  private isStopping = false;

  constructor(
    private readonly activity: ActivityRollupRepository,
    private readonly usage: UsageRollupRepository,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => this.look(), LOOK_INTERVAL);
    this.timer.unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    if (this.timer) clearInterval(this.timer);
    await this.looking;
  }

  /**
   * Finishes the current pass of each rollup, or runs one if it is due. Stops when another process has moved the
   * cursor. A rollup that fails does not hold the other one back.
   */
  async catchUp(pause = PAUSE, step = STEP): Promise<void> {
    const [byDay, byHour] = await Promise.allSettled([
      this.sumUp(this.activity, ACTIVITY_SUMMED_DAYS, pause, step),
      this.sumUp(this.usage, SUMMED_DAYS, pause, step).then(() => this.removeExpired()),
    ]);
    for (const result of [byDay, byHour]) if (result.status === 'rejected') throw result.reason;
  }

  private async sumUp(
    rollup: RollupRepository,
    days: number,
    pause: number,
    step: StepBounds,
  ): Promise<void> {
    const since = new Date(this.clock.now().getTime() - days * DAY);
    let cursor = await rollup.beginPass(pause);
    while (!this.isStopping && cursor.summedBefore !== cursor.passUntil) {
      const next = await rollup.takeStep(cursor, since, step);
      if (next === null) return;
      cursor = next;
    }
  }

  private async removeExpired(): Promise<void> {
    let hasMore = true;
    while (hasMore && !this.isStopping) hasMore = await this.usage.removeExpired(this.clock.now());
  }

  /** The next poll retries a failure. */
  private look(): void {
    this.looking ??= this.catchUp()
      .catch((error: unknown) => this.logger.warn({ error }, 'failed to sum up the activity; will retry'))
      .finally(() => {
        this.looking = null;
      });
  }
}
