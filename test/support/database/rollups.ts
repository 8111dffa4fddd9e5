// The sums of the log, which its retention waits for.
import { Injectable } from '@nestjs/common';
import type { TestingModuleBuilder } from '@nestjs/testing';
import { ActivityRollup } from '../../../src/upkeep/activity-rollup.js';
import type { TestApp } from '../app/app.js';
import { eventually } from '../eventually.js';

@Injectable()
class IdleRollup extends ActivityRollup {
  override onApplicationBootstrap(): void {
    // No task begins.
  }
}

/** For `override`: the app sums up when a test says so, and continues no pass of a test. */
export function withIdleRollup(testing: TestingModuleBuilder): void {
  testing.overrideProvider(ActivityRollup).useClass(IdleRollup);
}

/**
 * Until each rollup has summed all rows: transactions of other databases of the server hold a pass back. `sumUp` runs before
 * each look.
 */
export async function untilSummedUp(
  app: TestApp,
  sumUp: () => Promise<unknown> = () => app.application.get(ActivityRollup).catchUp(0),
): Promise<void> {
  await eventually(
    async () => {
      await sumUp();
      return app.sql(
        `SELECT FROM generations, activity_rollup AS activity, usage_rollup AS usage, user_rollup AS users
         WHERE log_transaction >= least(activity.summed_before, usage.summed_before, users.summed_before) LIMIT 1`,
      );
    },
    (rows) => rows.length === 0,
  );
}
