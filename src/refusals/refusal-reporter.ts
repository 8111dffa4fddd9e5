// Records refused calls shortly after they were refused, for operators (docs/contract.md#refusals), and reports the limits
// among them to budget alerts (docs/contract.md#notifications). The log has no record of refused calls. The caller's answer
// waits for nothing here.
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { Counter } from 'prom-client';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { Metrics } from '../config/metrics.js';
import { CrossingReporter } from '../deliveries/notifications/crossing-reporter.js';
import { Clock } from '../domain/clock.js';
import type { AppError } from '../domain/errors.js';
import { uuidV7 } from '../domain/identifiers.js';
import type { ApiKey } from '../domain/keys/api-key.js';
import { REFUSAL_REASONS, refusalReasonOf } from '../domain/keys/refusal.js';
import type { Refusal, RefusalReason, RefusedByLimit } from '../domain/keys/refusal.js';
import type { LimitShortfall } from '../domain/spend/spend-limit.js';
import { boundedText } from '../domain/text/bounded-text.js';
import { RefusalsRepository } from '../persistence/refusals/refusals.repository.js';
import { RefusalTally } from './refusal-tally.js';
import { RefusedLimits } from './refused-limits.js';

// Milliseconds.
const INTERVAL = 2_000;
// Counts of one statement.
const STEP = 5_000;
// Characters.
const MAX_MESSAGE_LENGTH = 300;

/** A failed request of a key. */
export interface FailedCall {
  readonly key: ApiKey;
  readonly method: string;
  readonly requestId: string;
  readonly error: AppError;
}

@Injectable()
export class RefusalReporter implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(RefusalReporter.name);
  private readonly task = RepeatedTask.every(INTERVAL, () => this.flush());
  private readonly tally = new RefusalTally();
  private readonly refused;
  private reporting: Promise<void> = Promise.resolve();

  constructor(
    private readonly limits: RefusedLimits,
    private readonly repository: RefusalsRepository,
    private readonly reporter: CrossingReporter,
    private readonly clock: Clock,
    { registry }: Metrics,
  ) {
    this.refused = new Counter({
      name: 'signalbox_refused_calls_total',
      help: 'Calls of known keys that were refused before they became generations, by reason; without load shedding.',
      labelNames: ['reason'],
      registers: [registry],
    });
    // Every series starts at 0: Prometheus sees no increase in a series that begins with its first event.
    for (const reason of REFUSAL_REASONS) this.refused.inc({ reason }, 0);
  }

  onApplicationBootstrap(): void {
    this.task.start(INTERVAL);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.task.stop();
    await this.flush();
  }

  /** Counts the call if it was refused. */
  note(call: FailedCall): void {
    const { key, error } = call;
    const reason = refusalReasonOf(error, key, call.method);
    if (reason === null) return;
    this.refused.inc({ reason });
    const now = this.clock.now();
    this.tally.note(key, reason, now, () => describe(call, reason, now));
    if (error.shortfall) this.limits.note(error.shortfall);
  }

  /** One report at a time. Never rejects: a failed report is repeated. */
  flush(): Promise<void> {
    this.reporting = this.reporting.then(() => this.report());
    return this.reporting;
  }

  private async report(): Promise<void> {
    await Promise.all([this.record(), this.reportLimits()]);
  }

  private async record(): Promise<void> {
    const { counts, newest } = this.tally.drain();
    if (counts.length === 0) return;
    for (let from = 0; from < counts.length; from += STEP) {
      const some = counts.slice(from, from + STEP);
      await this.repository.record(some).catch((error: unknown) => {
        this.tally.keep(some);
        this.logger.warn({ error }, 'failed to record refused calls; will retry');
      });
    }
    // The counts have all of them.
    await this.repository.recordNewest(newest).catch((error: unknown) => {
      this.logger.warn({ error }, 'failed to record the newest refused calls; they are counted alone');
    });
  }

  private async reportLimits(): Promise<void> {
    const limits = this.limits.drain();
    if (limits.length === 0) return;
    try {
      await this.reporter.reportRefusals(limits);
    } catch (error) {
      this.limits.keep(limits);
      this.logger.warn({ error }, 'failed to report limits that refused calls; will retry');
    }
  }
}

function describe({ key, requestId, error }: FailedCall, reason: RefusalReason, now: Date): Refusal {
  return {
    id: uuidV7(now),
    createdAt: now,
    accountId: key.accountId,
    workspaceId: key.workspaceId,
    apiKeyId: key.id,
    reason,
    requestId,
    message: boundedText(error.logMessage, MAX_MESSAGE_LENGTH),
    limit: limitOf(error.shortfall),
  };
}

function limitOf(shortfall: LimitShortfall | null): RefusedByLimit | null {
  if (!shortfall?.tightest) return null;
  const { tightest, needed, unspent, resetsAt, affordableTokens } = shortfall;
  const left = unspent > 0n ? unspent : 0n;
  return { window: tightest.window, limit: tightest.limit, needed, left, resetsAt, affordableTokens };
}
