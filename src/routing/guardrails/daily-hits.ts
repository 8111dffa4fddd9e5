// Counts the matches of content filters by day, and stores them shortly after: no call waits for it.
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { RepeatedTask } from '../../concurrency/repeated-task.js';
import { Clock } from '../../domain/clock.js';
import type { DailyHit } from '../../domain/guardrails/guardrail-hit.js';
import { utcDay } from '../../domain/spend/spend.js';
import { GuardrailUsageRepository } from '../../persistence/guardrails/guardrail-usage.repository.js';

// Milliseconds.
const INTERVAL = 10_000;
// Filters with matches that wait to be stored. Beyond it further filters are not counted.
const MAX_COUNTS = 50_000;

@Injectable()
export class DailyHits implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(DailyHits.name);
  private readonly task = RepeatedTask.every(INTERVAL, () => this.flush());
  private counts = new Map<string, DailyHit>();

  constructor(
    private readonly repository: GuardrailUsageRepository,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.task.start(INTERVAL);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.task.stop();
    await this.flush();
  }

  add(hits: Omit<DailyHit, 'day'>): void {
    this.count({ ...hits, day: utcDay(this.clock.now()) });
  }

  /** Never rejects: a failed report is repeated. */
  async flush(): Promise<void> {
    const counts = [...this.counts.values()];
    if (counts.length === 0) return;
    this.counts = new Map();
    await this.repository.addHits(counts).catch((error: unknown) => {
      for (const count of counts) this.count(count);
      this.logger.warn({ error }, 'failed to store matches of content filters; will retry');
    });
  }

  private count(hit: DailyHit): void {
    const { guardrailId, day, action, filter } = hit;
    const name = `${guardrailId} ${day} ${action} ${filter}`;
    const known = this.counts.get(name);
    if (!known && this.counts.size >= MAX_COUNTS) return;
    this.counts.set(name, known ? { ...known, hits: known.hits + hit.hits } : hit);
  }
}
