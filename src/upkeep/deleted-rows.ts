// Purges rows whose retention is over, of tables without partitions. A deleted key, destination or provider credential
// keeps its row at first, because records name it: traces and /activity name keys by their hashes. After the retention
// no record needs it: the audit log and analytics keep texts and ids of their own. A deleted workspace goes once neither
// the log nor any such row refers to it.
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { AppConfig } from '../config/app-config.js';
import { Clock } from '../domain/clock.js';
import { EVENT_RETENTION_DAYS } from '../domain/notifications/notification-rule.js';
import { SUMMED_DAYS } from '../persistence/activity/usage-statements.js';
import { Database } from '../persistence/database/database.js';
import { REMOVE_ACCESS_TOKENS } from '../persistence/federation/federation-statements.js';
import { REMOVE_AUTH_CODES } from '../persistence/keys/auth-code-statements.js';
import { KEPT_HIT_DAYS, REMOVE_GUARDRAIL_HITS } from '../persistence/guardrails/guardrail-statements.js';
import {
  KEPT_DAYS,
  KEPT_HOUR_DAYS,
  KEPT_MINUTE_HOURS,
  REMOVE_REFUSAL_HOURS,
  REMOVE_REFUSAL_MINUTES,
  REMOVE_REFUSALS,
} from '../persistence/refusals/refusal-statements.js';
import {
  PURGE_STEP,
  REMOVE_AUDIT_ENTRIES,
  REMOVE_NOTIFICATION_EVENTS,
  REMOVE_RETIRED_SECRETS,
  REMOVE_SESSIONS,
  REMOVE_STORAGE_DAYS,
  removeFrom,
  TABLES_WITH_DELETED_ROWS,
} from '../persistence/workspaces/purge-statements.js';
import {
  PURGE_FORGOTTEN_WORKSPACES,
  PURGE_UNUSED_WORKSPACES,
  REMOVE_QUOTA_USAGE,
} from '../persistence/workspaces/workspace-statements.js';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const TEN_MINUTES = 600_000;
// Days beyond the retention of the log after which no partition waits for its readers.
const LOG_PATIENCE = 8;
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
      ...TABLES_WITH_DELETED_ROWS.map((table) => () => this.removeInSteps(removeFrom(table), deletedBefore)),
      () => this.removeInSteps(REMOVE_RETIRED_SECRETS, deletedBefore),
      () => this.removeInSteps(REMOVE_STORAGE_DAYS, now),
      () => this.removeInSteps(REMOVE_SESSIONS, now),
      () => this.removeInSteps(REMOVE_ACCESS_TOKENS, now),
      () => this.removeInSteps(REMOVE_AUTH_CODES, now),
      () => this.removeInSteps(REMOVE_NOTIFICATION_EVENTS, ago(EVENT_RETENTION_DAYS * DAY)),
      () => this.removeInSteps(REMOVE_REFUSAL_MINUTES, ago(KEPT_MINUTE_HOURS * HOUR)),
      () => this.removeInSteps(REMOVE_REFUSAL_HOURS, ago(KEPT_HOUR_DAYS * DAY)),
      () => this.removeInSteps(REMOVE_REFUSALS, ago(KEPT_DAYS * DAY)),
      () => this.removeInSteps(REMOVE_GUARDRAIL_HITS, ago(KEPT_HIT_DAYS * DAY)),
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
    await this.purgeWorkspacesBy(PURGE_UNUSED_WORKSPACES, [ago(HOUR), PURGE_STEP, keysRemain]);
    if (retention.generationDays === 0 || history !== undefined) return;
    const days = Math.max(deletedRetentionDays, retention.generationDays + LOG_PATIENCE, SUMMED_DAYS);
    await this.purgeWorkspacesBy(PURGE_FORGOTTEN_WORKSPACES, [ago(days * DAY), PURGE_STEP]);
  }

  private async purgeWorkspacesBy(text: string, values: unknown[]): Promise<void> {
    while (!this.task.isStopping) {
      const removed = await this.database.query<{ id: string }>({ text, values });
      await this.database.query({ text: REMOVE_QUOTA_USAGE, values: [removed.map(({ id }) => id)] });
      if (removed.length < PURGE_STEP) return;
    }
  }

  private async removeInSteps(text: string, before: Date): Promise<void> {
    while (!this.task.isStopping) {
      const removed = await this.database.query({ text, values: [before] });
      if (removed.length < PURGE_STEP) return;
    }
  }
}
