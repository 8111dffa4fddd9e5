// Copies the generation log to ClickHouse, in steps that any process can continue. Calls never wait for it, and the
// retention of the log does as for any reader (docs/operating.md#history).
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { jitteredDelay } from '../concurrency/backoff.js';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { AppConfig } from '../config/app-config.js';
import { HISTORY_STEP_TIME } from '../config/shutdown-times.js';
import type { StepBounds } from '../persistence/rollups/rollup.repository.js';
import { HistoryCopyRepository } from '../persistence/history/history-copy.repository.js';
import { HistorySchema } from './history-schema.js';
import { GenerationContents } from '../persistence/contents/generation-contents.js';
import { ClickhouseClient } from './clickhouse-client.js';
import { ContentCopier } from './content-copier.js';
import { eraseContents, historyInsert, historyTable } from './history-tables.js';
import { HistoryMetrics } from './history-metrics.js';

// Milliseconds between passes, until the lease of another process is looked at again, and after failures.
const INTERVAL = 60_000;
const LEASE_INTERVAL = 5_000;
const RETRY = { base: 10_000, max: 300_000 };
// The rows of a step are in memory: 3 MB mostly, 80 MB if each has the largest trace. So are the contents of a slice,
// about six times, as they are decrypted and written.
const STEP: CopyBounds = { workspaces: 500, rows: 2_000, contentBytes: 4_000_000 };

export interface CopyBounds extends StepBounds {
  /** Most bytes of contents that are read and inserted at once. */
  readonly contentBytes: number;
}

@Injectable()
export class HistoryCopier implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(HistoryCopier.name);
  /** Names this process: several processes of a replica must not copy at once. */
  private readonly owner: string;
  private readonly task = new RepeatedTask(() => this.run());
  private failures = 0;

  constructor(
    { replicaId }: AppConfig,
    private readonly server: ClickhouseClient,
    private readonly schema: HistorySchema,
    private readonly copies: HistoryCopyRepository,
    private readonly contents: ContentCopier,
    private readonly storedContents: GenerationContents,
    private readonly metrics: HistoryMetrics,
  ) {
    this.owner = `${replicaId}/${process.pid}`;
  }

  onApplicationBootstrap(): void {
    if (this.server.database !== null) this.task.start(0);
  }

  /** A step that is interrupted is copied again. */
  beforeApplicationShutdown(): Promise<void> {
    return this.task.stop(HISTORY_STEP_TIME);
  }

  /** Finishes the current pass, or runs one. Returns false, and does nothing, while another process has the lease. */
  async copyPending(bounds: Partial<CopyBounds> = {}): Promise<boolean> {
    const { database } = this.server;
    if (database === null) return false;
    const hasLease = await this.copies.claim(this.owner);
    await this.noteLag();
    if (!hasLease) return false;
    try {
      await this.copyPass(database, { ...STEP, ...bounds });
      return true;
    } finally {
      // The lag of a copy that fails grows, and its own failure must not hide that of the copy.
      await this.noteLag().catch(() => undefined);
    }
  }

  private async noteLag(): Promise<void> {
    const { lag } = await this.copies.readState();
    this.metrics.noteLag(lag ?? 0);
  }

  private async copyPass(database: string, bounds: CopyBounds): Promise<void> {
    const target = { database, identity: await this.schema.ensure() };
    const { cursor: first, since } = await this.copies.beginPass(this.owner, target.identity);
    await this.eraseDeleted(database);
    let cursor = first;
    while (!this.task.isStopping && cursor.summedBefore !== cursor.passUntil) {
      const taken = await this.copies.readStep({ cursor, since }, bounds);
      if (taken.rows !== null)
        await this.server.insert(historyInsert(target, historyTable(database), taken.rows));
      const contents = await this.contents.copy(target, taken.contents, {
        maxBytes: bounds.contentBytes,
        mayContinue: () => this.renew(),
      });
      if (contents === null) return;
      const next = await this.copies.move(this.owner, cursor, taken);
      if (next === null) return;
      this.metrics.countCopied(taken.count, contents);
      for (const workspaceId of new Set(taken.contents.map((content) => content.workspaceId)))
        this.storedContents.note(workspaceId);
      // A pass may take hours.
      await this.noteLag();
      cursor = next;
    }
  }

  /** Contents of deleted workspaces. A `Distributed` table refuses the statement, which must not stop the copy. */
  private async eraseDeleted(database: string): Promise<void> {
    const workspaces = await this.copies.listErasable();
    const last = workspaces.at(-1);
    if (!last) return;
    const ids = workspaces.map(({ id }) => id);
    try {
      await this.server.query({ text: eraseContents(database, ids) });
    } catch (error) {
      this.logger.warn(
        { error },
        'failed to erase contents of deleted workspaces from the history; will retry',
      );
      return;
    }
    await this.copies.noteErased(this.owner, last.deletedAt);
  }

  /** The contents of a step may take longer than the lease. Resolves with false when the pass has to end. */
  private async renew(): Promise<boolean> {
    return !this.task.isStopping && (await this.copies.claim(this.owner));
  }

  private async run(): Promise<number> {
    try {
      const hasCopied = await this.copyPending();
      this.failures = 0;
      return hasCopied ? INTERVAL : LEASE_INTERVAL;
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
