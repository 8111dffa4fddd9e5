// Approximate bytes that the calls of a workspace have stored, compared with its quotas. Processes sum their writes
// in memory and exchange sums through storage_days every few seconds. A call pays for no statement, and a quota takes
// effect within seconds. A crashed process loses its unexchanged sums.
import { Injectable, Logger } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { AppConfig } from '../../config/app-config.js';
import { Metrics } from '../../config/metrics.js';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import { utcDay } from '../../domain/spend/spend.js';
import { Database } from '../database/database.js';

// Plain SQL: one statement adds the sums of many workspaces.

/** $1 workspaces, $2 days, $3 to $5 the sums to add. */
const ADD_STORAGE = `
INSERT INTO storage_days AS stored (workspace_id, day, log_bytes, content_bytes, contents_skipped)
SELECT * FROM unnest($1::uuid[], $2::date[], $3::bigint[], $4::bigint[], $5::bigint[])
  AS added (workspace_id, day, log_bytes, content_bytes, contents_skipped)
ORDER BY workspace_id, day
ON CONFLICT (workspace_id, day) DO UPDATE SET log_bytes = stored.log_bytes + excluded.log_bytes,
  content_bytes = stored.content_bytes + excluded.content_bytes,
  contents_skipped = stored.contents_skipped + excluded.contents_skipped`;

/** $1 workspaces, $2 today. Contents live for a day at most. */
const READ_STORAGE = `
SELECT workspace_id AS "workspaceId", coalesce(sum(log_bytes) FILTER (WHERE day = $2::date), 0)::float8 AS "logBytes",
  sum(content_bytes)::float8 AS "contentBytes"
FROM storage_days WHERE workspace_id = ANY ($1::uuid[]) AND day BETWEEN $2::date - 1 AND $2::date + 1
GROUP BY workspace_id`;

const DAY = 86_400_000;
// One more exchange for each part of a quota of this size that a workspace fills sooner: an eighth.
const EARLY_EXCHANGES = 8;
// Workspaces of one statement.
const STEP = 1_000;

interface Added {
  readonly workspaceId: string;
  readonly day: string;
  logBytes: number;
  contentBytes: number;
  contentsSkipped: number;
}

interface Sums {
  readonly workspaceId: string;
  readonly logBytes: number;
  readonly contentBytes: number;
}

@Injectable()
export class StorageUsage {
  private readonly logger = new Logger(StorageUsage.name);
  private readonly quotas: AppConfig['storageQuotas'];
  /** Whether there is no quota. */
  readonly isOff: boolean;
  /** Since the last exchange, by workspace and day. */
  private added = new Map<string, Added>();
  private readonly aboveContentQuota = new Set<string>();
  /** Until the end of the UTC day. */
  private readonly aboveLogQuota = new Map<string, string>();
  private readonly contentsSkipped;
  private readonly callsRejected;
  private exchanging: Promise<void> = Promise.resolve();
  /** An early exchange waits for the running one; it will take all that is added until it starts. */
  private isExchangeQueued = false;

  constructor(
    { storageQuotas }: AppConfig,
    { registry }: Metrics,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.quotas = storageQuotas;
    this.isOff = storageQuotas.contentBytes === 0 && storageQuotas.dailyLogBytes === 0;
    const registers = [registry];
    this.contentsSkipped = new Counter({
      name: 'signalbox_contents_skipped_total',
      help: 'Calls whose contents were not stored, because their workspace exceeded its content quota.',
      registers,
    });
    this.callsRejected = new Counter({
      name: 'signalbox_log_quota_refused_total',
      help: 'Calls rejected with 429, because their workspace exceeded its daily log quota.',
      registers,
    });
    const { aboveContentQuota, aboveLogQuota } = this;
    void new Gauge({
      name: 'signalbox_workspaces_above_storage_quota',
      help: 'Workspaces that exceed a storage quota, as this process knows.',
      labelNames: ['quota'],
      registers,
      collect() {
        this.set({ quota: 'contents' }, aboveContentQuota.size);
        this.set({ quota: 'log' }, aboveLogQuota.size);
      },
    });
  }

  /** Call it for committed bytes. */
  add(workspaceId: string, day: string, logBytes: number, contentBytes: number): void {
    if (this.isOff) return;
    const added = this.addedOf(workspaceId, day);
    added.logBytes += logBytes;
    added.contentBytes += contentBytes;
    if (this.isExchangeQueued || !this.isMuchOfQuota(added)) return;
    this.isExchangeQueued = true;
    void this.exchange().catch(() => undefined);
  }

  /** Whether the content of one more call may be stored; false also counts the call. */
  mayStoreContent(workspaceId: string): boolean {
    if (this.aboveContentQuota.size === 0 || !this.aboveContentQuota.has(workspaceId)) return true;
    this.contentsSkipped.inc();
    this.addedOf(workspaceId, utcDay(this.clock.now())).contentsSkipped++;
    return false;
  }

  /** Throws `rate_limit_exceeded` while the workspace's records exceed their quota of this UTC day. */
  rejectAboveLogQuota(workspaceId: string): void {
    if (this.aboveLogQuota.size === 0) return;
    const now = this.clock.now();
    if (this.aboveLogQuota.get(workspaceId) !== utcDay(now)) return;
    this.callsRejected.inc();
    const resetsAt = (Math.floor(now.getTime() / DAY) + 1) * DAY;
    const limit = this.quotas.dailyLogBytes;
    throw new AppError('rate_limit_exceeded', {
      detail:
        `the records of this workspace's calls have taken the ${limit} bytes that they may take of the log in a UTC day; ` +
        'send less in trace, or have the operator raise WORKSPACE_DAILY_LOG_QUOTA_BYTES',
      metadata: {
        quota: 'WORKSPACE_DAILY_LOG_QUOTA_BYTES',
        limit_bytes: limit,
        resets_at: new Date(resetsAt).toISOString(),
      },
      headers: { 'Retry-After': String(Math.max(1, Math.ceil((resetsAt - now.getTime()) / 1_000))) },
    });
  }

  /** Adds this process's sums and reads those of all processes. Exchanges run one at a time. */
  exchange(): Promise<void> {
    this.exchanging = this.exchanging.catch(() => undefined).then(() => this.exchangeNow());
    return this.exchanging;
  }

  /** A workspace that writes fast must not exceed its quota by what it writes between two exchanges. */
  private isMuchOfQuota({ logBytes, contentBytes }: Added): boolean {
    const { contentBytes: contentQuota, dailyLogBytes: logQuota } = this.quotas;
    return (
      (contentQuota > 0 && contentBytes * EARLY_EXCHANGES >= contentQuota) ||
      (logQuota > 0 && logBytes * EARLY_EXCHANGES >= logQuota)
    );
  }

  private addedOf(workspaceId: string, day: string): Added {
    const key = `${workspaceId} ${day}`;
    let added = this.added.get(key);
    if (!added) {
      added = { workspaceId, day, logBytes: 0, contentBytes: 0, contentsSkipped: 0 };
      this.added.set(key, added);
    }
    return added;
  }

  private async exchangeNow(): Promise<void> {
    this.isExchangeQueued = false;
    const added = [...this.added.values()];
    this.added = new Map();
    const workspaceIds = new Set(added.map(({ workspaceId }) => workspaceId));
    // Also workspaces without new writes, because they exceed a quota.
    for (const above of [this.aboveContentQuota, this.aboveLogQuota.keys()])
      for (const workspaceId of above) workspaceIds.add(workspaceId);
    for (let from = 0; from < added.length; from += STEP) {
      try {
        await this.write(added.slice(from, from + STEP));
      } catch (error) {
        this.restore(added.slice(from));
        throw error;
      }
    }
    const ids = [...workspaceIds];
    for (let from = 0; from < ids.length; from += STEP) await this.read(ids.slice(from, from + STEP));
  }

  private async write(added: readonly Added[]): Promise<void> {
    await this.database.query({
      name: 'add-storage',
      text: ADD_STORAGE,
      values: [
        added.map(({ workspaceId }) => workspaceId),
        added.map(({ day }) => day),
        added.map(({ logBytes }) => logBytes),
        added.map(({ contentBytes }) => contentBytes),
        added.map(({ contentsSkipped }) => contentsSkipped),
      ],
    });
  }

  private restore(added: readonly Added[]): void {
    for (const { workspaceId, day, logBytes, contentBytes, contentsSkipped } of added) {
      const later = this.addedOf(workspaceId, day);
      later.logBytes += logBytes;
      later.contentBytes += contentBytes;
      later.contentsSkipped += contentsSkipped;
    }
  }

  private async read(workspaceIds: readonly string[]): Promise<void> {
    const today = utcDay(this.clock.now());
    const rows = await this.database.query<Sums & Record<string, string | number>>({
      name: 'read-storage',
      text: READ_STORAGE,
      values: [workspaceIds, today],
    });
    const sums = new Map(rows.map((row) => [row.workspaceId, row]));
    for (const workspaceId of workspaceIds) this.update(workspaceId, today, sums.get(workspaceId));
  }

  private update(workspaceId: string, today: string, sums: Sums | undefined): void {
    const { contentBytes, dailyLogBytes } = this.quotas;
    const { aboveContentQuota, aboveLogQuota } = this;
    if (contentBytes > 0 && (sums?.contentBytes ?? 0) >= contentBytes) {
      if (!aboveContentQuota.has(workspaceId))
        this.logger.warn(
          { workspaceId },
          'contents are not stored: the workspace is above its content quota',
        );
      aboveContentQuota.add(workspaceId);
    } else aboveContentQuota.delete(workspaceId);
    if (dailyLogBytes > 0 && (sums?.logBytes ?? 0) >= dailyLogBytes) {
      if (aboveLogQuota.get(workspaceId) !== today)
        this.logger.warn({ workspaceId }, 'calls are rejected: the workspace is above its daily log quota');
      aboveLogQuota.set(workspaceId, today);
    } else aboveLogQuota.delete(workspaceId);
  }
}
