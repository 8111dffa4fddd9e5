// Purges rows whose retention is over, of tables without partitions. A deleted key, destination or provider credential
// keeps its row at first, because records name it: traces and /activity name keys by their hashes. After the retention
// no record needs it: the audit log and analytics keep texts and ids of their own. A deleted workspace goes once neither
// the log nor any such row refers to it.
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { RepeatedTask } from '../../concurrency/repeated-task.js';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import { MAX_SESSION_AGE } from '../../domain/keys/console-session.js';
import { EVENT_RETENTION_DAYS } from '../../domain/notifications/notification-rule.js';
import { SUMMED_DAYS } from '../activity/usage-statements.js';
import { Database } from '../database/database.js';
import {
  PURGE_FORGOTTEN_WORKSPACES,
  PURGE_UNUSED_WORKSPACES,
  REMOVE_QUOTA_USAGE,
} from './workspace-statements.js';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const TEN_MINUTES = 600_000;
// Days beyond the retention of the log after which no partition waits for its readers.
const LOG_PATIENCE = 8;
// Rows that one statement removes: a backlog is removed in steps, so that locks are short.
const STEP = 500;
const TABLES = ['destinations', 'provider_credentials', 'api_keys'] as const;

/** $1 a moment. Skips rows that another process is removing. */
const removeFrom = (table: (typeof TABLES)[number]): string => `
DELETE FROM ${table} AS purged USING (
  SELECT workspace_id, id FROM ${table} WHERE deleted_at < $1 ORDER BY deleted_at LIMIT ${STEP} FOR UPDATE SKIP LOCKED
) AS old
WHERE purged.workspace_id = old.workspace_id AND purged.id = old.id
RETURNING 1`;

/** $1 a moment: days whose contents have all expired. */
const REMOVE_STORAGE_DAYS = `
DELETE FROM storage_days AS purged USING (
  SELECT workspace_id, day FROM storage_days WHERE day < ($1::timestamptz AT TIME ZONE 'UTC')::date - 2
  ORDER BY day LIMIT ${STEP} FOR UPDATE SKIP LOCKED
) AS old
WHERE purged.workspace_id = old.workspace_id AND purged.day = old.day
RETURNING 1`;

/** $1 a moment. */
const REMOVE_AUDIT_ENTRIES = `
DELETE FROM audit_log AS purged USING (
  SELECT account_id, id FROM audit_log WHERE created_at < $1 ORDER BY created_at LIMIT ${STEP} FOR UPDATE SKIP LOCKED
) AS old
WHERE purged.account_id = old.account_id AND purged.id = old.id
RETURNING 1`;

/** $1 a moment. */
const REMOVE_NOTIFICATION_EVENTS = `
DELETE FROM notification_events AS purged USING (
  SELECT account_id, id FROM notification_events WHERE created_at < $1
  ORDER BY created_at LIMIT ${STEP} FOR UPDATE SKIP LOCKED
) AS old
WHERE purged.account_id = old.account_id AND purged.id = old.id
RETURNING 1`;

/** $1 a moment. */
const REMOVE_RETIRED_SECRETS = `
DELETE FROM retired_secrets WHERE secret_hash IN (
  SELECT secret_hash FROM retired_secrets WHERE retired_at < $1 ORDER BY retired_at LIMIT ${STEP} FOR UPDATE SKIP LOCKED
)
RETURNING 1`;

/** $1 a moment. A sign-in removes some as well, but there may be none. */
const REMOVE_SESSIONS = `
DELETE FROM console_sessions WHERE id_hash IN (
  SELECT id_hash FROM console_sessions WHERE created_at <= $1 ORDER BY created_at LIMIT ${STEP} FOR UPDATE SKIP LOCKED
)
RETURNING 1`;

@Injectable()
export class DeletedRows implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(DeletedRows.name);
  private readonly task = RepeatedTask.every(TEN_MINUTES, () => this.purge());

  constructor(
    private readonly database: Database,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.task.start(TEN_MINUTES);
  }

  onApplicationShutdown(): Promise<void> {
    return this.task.stop();
  }

  /** Never rejects. */
  async purge(): Promise<void> {
    const { deletedRetentionDays, retention } = this.config;
    const now = this.clock.now();
    const ago = (milliseconds: number): Date => new Date(now.getTime() - milliseconds);
    const deletedBefore = ago(deletedRetentionDays * DAY);
    const steps = [
      ...TABLES.map((table) => () => this.removeInSteps(removeFrom(table), deletedBefore)),
      () => this.removeInSteps(REMOVE_RETIRED_SECRETS, deletedBefore),
      () => this.removeInSteps(REMOVE_STORAGE_DAYS, now),
      () => this.removeInSteps(REMOVE_SESSIONS, ago(MAX_SESSION_AGE)),
      () => this.removeInSteps(REMOVE_NOTIFICATION_EVENTS, ago(EVENT_RETENTION_DAYS * DAY)),
      () => this.removeAuditEntries(ago(retention.auditDays * DAY)),
      () => this.purgeWorkspaces(ago),
    ];
    for (const step of steps) {
      // A table that cannot be purged stops no other one.
      await step().catch((error: unknown) => {
        this.logger.warn({ error }, 'failed to purge deleted rows; will retry');
      });
    }
  }

  private async removeAuditEntries(before: Date): Promise<void> {
    if (this.config.retention.auditDays > 0) await this.removeInSteps(REMOVE_AUDIT_ENTRIES, before);
  }

  /** Those that were never called, and those whose calls are in no log, history or sum any more. */
  private async purgeWorkspaces(ago: (milliseconds: number) => Date): Promise<void> {
    const { deletedRetentionDays, retention, history } = this.config;
    const keysRemain = ago((deletedRetentionDays - 1) * DAY);
    await this.purgeWorkspacesBy(PURGE_UNUSED_WORKSPACES, [ago(HOUR), STEP, keysRemain]);
    if (retention.generationDays === 0 || history !== undefined) return;
    const days = Math.max(deletedRetentionDays, retention.generationDays + LOG_PATIENCE, SUMMED_DAYS);
    await this.purgeWorkspacesBy(PURGE_FORGOTTEN_WORKSPACES, [ago(days * DAY), STEP]);
  }

  private async purgeWorkspacesBy(text: string, values: unknown[]): Promise<void> {
    while (!this.task.isStopping) {
      const removed = await this.database.query<{ id: string }>({ text, values });
      await this.database.query({ text: REMOVE_QUOTA_USAGE, values: [removed.map(({ id }) => id)] });
      if (removed.length < STEP) return;
    }
  }

  private async removeInSteps(text: string, before: Date): Promise<void> {
    while (!this.task.isStopping) {
      const removed = await this.database.query({ text, values: [before] });
      if (removed.length < STEP) return;
    }
  }
}
