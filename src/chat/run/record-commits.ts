// Commits the records of chat calls. An answer ends after its record is committed. A database that is away for seconds
// delays that end, and one that is away for longer loses no record (docs/contract.md#chat-spend).
import { Injectable, Logger } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import { Cancellation } from '../../concurrency/cancellation.js';
import type { Scheduler } from '../../concurrency/scheduler.js';
import { sleep } from '../../concurrency/sleep.js';
import { GenerationPublisher } from '../../deliveries/generation-publisher.js';
import type { StoredCall } from '../../deliveries/generation-publisher.js';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import { AppError } from '../../domain/errors.js';
import { contentOfChat } from '../../domain/generations/generation-content.js';
import type { Generation } from '../../domain/generations/generation.js';
import { unpaidTowardLimit } from '../../domain/spend/charge.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import { LAST_COMMIT_MS } from '../../domain/spend/spend-lease.js';
import type { SpendRelease } from '../../domain/spend/spend-limit.js';
import { RejectedValue } from '../../persistence/database/database-errors.js';
import type { GenerationLog } from '../../persistence/generations/generation-log.js';
import { UnpaidCosts } from '../../spend/unpaid-costs.js';
import type { ChatMetrics } from '../chat-metrics.js';
import type { Settlement } from './chat-settlement.js';

export interface CallRecord {
  readonly generation: Generation;
  readonly releases: readonly SpendRelease[];
  /** USD that count towards the limit of unpaid amounts. */
  readonly unpaid: PicoUsd;
  /** May need the database. */
  readonly stored: () => Promise<StoredCall>;
  readonly onCommitted: () => void;
}

export interface StartedCommit {
  /**
   * Rejects when the record is not committed within COMMIT_MS and no statement is running: its outcome decides. The commit
   * goes on then, unless the record is rejected.
   */
  readonly inTime: Promise<void>;
  /** Resolves when the record is committed or given up. Never rejects. */
  readonly over: Promise<void>;
}

/** Milliseconds that the end of an answer waits for its record. */
export const COMMIT_MS = 5_000;
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1_000;

interface PendingCommit {
  record: CallRecord;
  /** The record of a call whose caller reads that it could not be recorded. */
  readonly late: () => Promise<CallRecord>;
  /** Reports that to the caller. */
  readonly refuse: () => void;
  readonly givesUpAt: number;
  hasFailed: boolean;
  isAppending: boolean;
  /** COMMIT_MS are over. */
  isDue: boolean;
  /** Not null: the caller has read that the call could not be recorded. Open until the record says so as well. */
  replacement: Promise<void> | null;
}

export class RecordCommits implements OnModuleDestroy {
  private readonly logger = new Logger('Chat');
  private readonly stopping = new Cancellation();

  constructor(
    private readonly log: Pick<GenerationLog, 'append' | 'has'>,
    private readonly metrics: Pick<ChatMetrics, 'pendingRecords' | 'lostRecords'>,
    private readonly scheduler: Scheduler,
    private readonly commitMs = COMMIT_MS,
  ) {}

  /** `late`: the record of a call whose caller reads that it could not be recorded. */
  begin(record: CallRecord, late: () => Promise<CallRecord>): StartedCommit {
    let refuse = (): void => undefined;
    const refused = new Promise<never>((_resolve, reject) => (refuse = () => reject(notRecorded())));
    const pending: PendingCommit = {
      record,
      late,
      refuse,
      givesUpAt: this.scheduler.now() + LAST_COMMIT_MS,
      hasFailed: false,
      isAppending: false,
      isDue: false,
      replacement: null,
    };
    const timer = this.scheduler.after(this.commitMs, () => {
      pending.isDue = true;
      this.endWait(pending);
    });
    const committed = this.commit(pending);
    const cancel = (): void => timer.cancel();
    void committed.then(cancel, cancel);
    return { inTime: Promise.race([committed, refused]), over: this.after(committed, pending) };
  }

  /** A running statement may still commit the call with its charge: the caller waits for its outcome. */
  private endWait(pending: PendingCommit): void {
    if (!pending.isDue || pending.replacement !== null || pending.isAppending) return;
    pending.replacement = this.replace(pending);
    this.metrics.pendingRecords.inc();
    pending.refuse();
  }

  private async after(committed: Promise<void>, pending: PendingCommit): Promise<void> {
    await Promise.allSettled([committed]);
    if (pending.replacement !== null) this.metrics.pendingRecords.dec();
  }

  /** Records that are not committed by then are lost: the grace is over. */
  onModuleDestroy(): void {
    this.stopping.abort();
  }

  private async commit(pending: PendingCommit): Promise<void> {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      // The record of an answer that its caller has not read must not be charged.
      await pending.replacement;
      const { record } = pending;
      pending.isAppending = true;
      try {
        await this.append(record, pending.hasFailed);
        record.onCommitted();
        return;
      } catch (error) {
        pending.isAppending = false;
        const hasTime = this.scheduler.now() + pause < pending.givesUpAt;
        if (this.stopping.aborted || !hasTime || !isPassing(error)) {
          this.metrics.lostRecords.inc();
          const { id: generationId } = record.generation;
          this.logger.error({ error, generationId }, 'failed to record a chat call');
          throw error;
        }
        pending.hasFailed = true;
        this.endWait(pending);
      }
      // The end of the process ends the pause, and one last attempt follows.
      await sleep(pause, this.stopping, this.scheduler).catch(() => undefined);
    }
  }

  /** An earlier attempt may have been committed although its connection was lost: the log has the record then. */
  private async append(record: CallRecord, isRepeated: boolean): Promise<void> {
    const { releases, unpaid } = record;
    try {
      const { generation, content } = await record.stored();
      await this.log.append(generation, releases, content, unpaid);
    } catch (error) {
      const { generation } = record;
      if (isRepeated && error instanceof RejectedValue && (await this.log.has(generation))) return;
      throw error;
    }
  }

  private async replace(pending: PendingCommit): Promise<void> {
    try {
      pending.record = await pending.late();
    } catch (error) {
      const { id: generationId } = pending.record.generation;
      this.logger.error(
        { error, generationId },
        'failed to describe a call that could not be recorded in time',
      );
    }
  }
}

/** The records of settlements: with their content where a destination needs it, and the notification. */
@Injectable()
export class ChatRecords {
  constructor(
    private readonly commits: RecordCommits,
    private readonly publisher: GenerationPublisher,
    private readonly unpaid: UnpaidCosts,
  ) {}

  /** `late`: the settlement of a call whose caller reads that it could not be recorded. */
  begin(
    settlement: Settlement,
    request: ChatRequest,
    releases: readonly SpendRelease[],
    late: () => Promise<Settlement>,
  ): StartedCommit {
    const recordOf = (of: Settlement) => this.recordOf(of, request, releases);
    return this.commits.begin(recordOf(settlement), async () => recordOf(await late()));
  }

  private recordOf(
    { settled, generation }: Settlement,
    request: ChatRequest,
    releases: readonly SpendRelease[],
  ): CallRecord {
    const { accountId, workspaceId, id } = generation;
    const { charged, received, error } = settled;
    const { unpaid } = charged.charge;
    return {
      generation,
      releases,
      unpaid: unpaidTowardLimit(unpaid),
      stored: () =>
        this.publisher.toStore(generation, () =>
          contentOfChat(request, received.choices, error?.message ?? null),
        ),
      onCommitted: () => {
        this.publisher.generationAppended(workspaceId);
        if (unpaid.length > 0) this.unpaid.record(accountId, id, unpaid);
      },
    };
  }
}

export function notRecorded(): AppError {
  return new AppError('unavailable', { detail: 'the call could not be recorded' });
}

/** A record that the database rejects is rejected again. */
function isPassing(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'unavailable' || error.code === 'operation_timeout');
}
