// Runs the rollup of the log for /activity in the background.
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import { ActivityRollupRepository } from '../persistence/activity/activity-rollup.repository.js';
import type { StepBounds } from '../persistence/activity/activity-rollup.repository.js';

const DAY = 86_400_000;
// /activity reaches back thirty days; ten more allow for clock differences.
const REACH = 40 * DAY;
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
    private readonly rollup: ActivityRollupRepository,
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

  /** Finishes the current pass, or runs one if it is due. Stops when another process has moved the cursor. */
  async catchUp(pause = PAUSE, step = STEP): Promise<void> {
    const since = new Date(this.clock.now().getTime() - REACH);
    let cursor = await this.rollup.beginPass(pause);
    while (!this.isStopping && cursor.summedBefore !== cursor.passUntil) {
      const next = await this.rollup.takeStep(cursor, since, step);
      if (next === null) return;
      cursor = next;
    }
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
