// Reports limits that refused a call of this process, shortly after it (docs/contract.md#notifications). The log has no
// record of refused calls, so that no scan of it finds them.
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { CrossingReporter } from '../deliveries/notifications/crossing-reporter.js';
import { RefusedLimits } from '../spend/refused-limits.js';

// Milliseconds.
const INTERVAL = 2_000;

@Injectable()
export class RefusalReporter implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(RefusalReporter.name);
  private readonly task = RepeatedTask.every(INTERVAL, () => this.flush());
  private reporting: Promise<void> = Promise.resolve();

  constructor(
    private readonly refused: RefusedLimits,
    private readonly reporter: CrossingReporter,
  ) {}

  onApplicationBootstrap(): void {
    this.task.start(INTERVAL);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.task.stop();
    await this.flush();
  }

  /** One report at a time. Never rejects: a failed report is repeated. */
  flush(): Promise<void> {
    this.reporting = this.reporting.then(() => this.report());
    return this.reporting;
  }

  private async report(): Promise<void> {
    const limits = this.refused.drain();
    if (limits.length === 0) return;
    try {
      await this.reporter.reportRefusals(limits);
    } catch (error) {
      this.refused.keep(limits);
      this.logger.warn({ error }, 'failed to report limits that refused calls; will retry');
    }
  }
}
