// Copies the generation log to ClickHouse, in steps that any process can continue. Calls never wait for it, and the
// retention of the log does as for any reader (docs/operating.md#history).
import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { jitteredDelay } from '../../concurrency/backoff.js';
import { RepeatedTask } from '../../concurrency/repeated-task.js';
import { AppConfig } from '../../config/app-config.js';
import { HistoryServer } from '../../domain/generations/history-server.js';
import type { StepBounds } from '../../persistence/activity/activity-rollup.repository.js';
import { HistoryCopyRepository } from '../../persistence/history/history-copy.repository.js';
import { HistorySchema } from '../../persistence/history/history-schema.js';
import { historyTable } from '../../persistence/history/history-tables.js';
import { HistoryMetrics } from './history-metrics.js';

// Milliseconds between passes, and after failures.
const INTERVAL = 60_000;
const RETRY = { base: 10_000, max: 300_000 };
// The rows of a step are in memory: 3 MB mostly, 80 MB if each has the largest trace.
const STEP: StepBounds = { workspaces: 500, rows: 2_000 };

@Injectable()
export class HistoryCopier implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(HistoryCopier.name);
  /** Of this process: several processes of a replica must not copy at once. */
  private readonly owner: string;
  private readonly task = new RepeatedTask(() => this.run());
  private failures = 0;

  constructor(
    { replicaId }: AppConfig,
    private readonly server: HistoryServer,
    private readonly schema: HistorySchema,
    private readonly copies: HistoryCopyRepository,
    private readonly metrics: HistoryMetrics,
  ) {
    this.owner = `${replicaId}/${process.pid}`;
  }

  onApplicationBootstrap(): void {
    if (this.server.database !== null) this.task.start(0);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.task.stop();
  }

  /** Finishes the current pass, or runs one. Does nothing while another process has the lease. */
  async copyPending(step = STEP): Promise<void> {
    const { database } = this.server;
    if (database === null) return;
    if (await this.copies.claim(this.owner)) await this.copyPass(database, step);
    const { lag } = await this.copies.readState();
    this.metrics.noteLag(lag ?? 0);
  }

  private async copyPass(database: string, step: StepBounds): Promise<void> {
    const target = await this.schema.ensure();
    const { cursor: first, since } = await this.copies.beginPass(this.owner, target);
    let cursor = first;
    while (!this.task.isStopping && cursor.summedBefore !== cursor.passUntil) {
      const taken = await this.copies.readStep({ cursor, since }, step);
      if (taken.rows !== null) {
        await this.server.insert({
          statement: `INSERT INTO ${historyTable(database)} FORMAT JSONEachRow`,
          rows: taken.rows,
          token: createHash('sha256').update(target).update(taken.rows).digest('hex'),
        });
      }
      const next = await this.copies.move(this.owner, cursor, taken);
      if (next === null) return;
      this.metrics.countCopied(taken.count);
      cursor = next;
    }
  }

  private async run(): Promise<number> {
    try {
      await this.copyPending();
      this.failures = 0;
      return INTERVAL;
    } catch (error) {
      this.metrics.countFailure();
      this.logger.warn({ error }, 'failed to copy generations to the history; will retry');
      return jitteredDelay(this.failures++, RETRY, Math.random());
    } finally {
      // Another process can continue at once.
      if (this.task.isStopping) await this.copies.release(this.owner).catch(() => undefined);
    }
  }
}
