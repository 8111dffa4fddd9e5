// Reports limits that refused a call of this process, shortly after it (docs/contract.md#notifications). The log has no
// record of refused calls, so that no scan of it finds them.
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { CrossingReporter } from '../deliveries/notifications/crossing-reporter.js';
import { RefusedLimits } from '../spend/refused-limits.js';

// Milliseconds.
const INTERVAL = 2_000;

@Injectable()
export class RefusalReporter implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(RefusalReporter.name);
  private timer: NodeJS.Timeout | null = null;
  private reporting: Promise<void> = Promise.resolve();

  constructor(
    private readonly refused: RefusedLimits,
    private readonly reporter: CrossingReporter,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.flush(), INTERVAL);
    this.timer.unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
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
