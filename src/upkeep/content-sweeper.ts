// Deletes stored contents as soon as no destination may need them, and the history neither.
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { AppConfig } from '../config/app-config.js';
import { Clock } from '../domain/clock.js';
import {
  DEAD_LETTER_BOUNDS,
  DeadLettersRepository,
} from '../persistence/deliveries/dead-letters.repository.js';
import { HistoryMetrics } from '../history/history-metrics.js';
import { GenerationContents } from '../persistence/contents/generation-contents.js';

// Milliseconds.
const HOUR = 3_600_000;
const PAUSE_BETWEEN_SWEEPS = 1_000;
const PAUSE_BETWEEN_AGE_SWEEPS = 60_000;

@Injectable()
export class ContentSweeper implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(ContentSweeper.name);
  private readonly tasks = [
    RepeatedTask.every(PAUSE_BETWEEN_SWEEPS, () => this.run(() => this.contents.removeNoted())),
    RepeatedTask.every(PAUSE_BETWEEN_AGE_SWEEPS, () => this.run(() => this.sweepOld())),
  ] as const;
  private sweeping: Promise<void> = Promise.resolve();

  constructor(
    private readonly contents: GenerationContents,
    private readonly deadLetters: DeadLettersRepository,
    private readonly config: AppConfig,
    private readonly clock: Clock,
    private readonly history: HistoryMetrics,
  ) {}

  onApplicationBootstrap(): void {
    const [due, old] = this.tasks;
    due.start(PAUSE_BETWEEN_SWEEPS);
    old.start(PAUSE_BETWEEN_AGE_SWEEPS);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.tasks.map((task) => task.stop()));
  }

  /** Runs sweeps one by one. The next sweep covers for a failed one. */
  private run(sweep: () => Promise<void>): Promise<void> {
    this.sweeping = this.sweeping
      .then(sweep)
      .catch((error: unknown) =>
        this.logger.warn({ error }, 'failed to remove stored contents; the next sweep will retry'),
      );
    return this.sweeping;
  }

  /**
   * Also deletes contents that no cursor passes: of disabled destinations, and of dead letters beyond their bounds.
   */
  async sweepOld(): Promise<void> {
    const oldest = new Date(this.clock.now().getTime() - this.config.retention.contentHours * HOUR);
    this.history.countLost('expired', await this.contents.removeOlderThan(oldest));
    // The texts of dead letters may repeat contents.
    await this.deadLetters.removeTexts(oldest);
    await this.deadLetters.removeBeyond(DEAD_LETTER_BOUNDS);
  }
}
