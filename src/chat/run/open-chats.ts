// The chats of this process: the end of the process ends those that are still open, and accounts share its drains.
import { Injectable } from '@nestjs/common';
import { Semaphore } from '../../concurrency/semaphore.js';
import { AppConfig } from '../../config/app-config.js';
import type { CallStop } from '../../domain/ending.js';
import { AppError } from '../../domain/errors.js';
import { deadlineError } from '../../routing/failures/caller-error.js';
import { ChatMetrics } from '../chat-metrics.js';

export function errorOfStop(stop: CallStop): AppError {
  switch (stop) {
    case 'deadline':
      return deadlineError();
    case 'shutdown':
      return new AppError('unavailable', { detail: 'the service is shutting down' });
    case 'lapse':
      return new AppError('unavailable', { detail: 'the money that was reserved for the call has lapsed' });
  }
}

@Injectable()
export class OpenChats {
  isShuttingDown = false;
  private readonly open = new Set<() => void>();
  /** Null: no stream is drained. */
  private readonly drains: Semaphore | null;

  constructor(
    { chat: { maxDrains } }: AppConfig,
    private readonly metrics: ChatMetrics,
  ) {
    this.drains = maxDrains === 0 ? null : new Semaphore({ permits: maxDrains, leavesHalf: true });
  }

  /** Calls that are open. */
  get size(): number {
    return this.open.size;
  }

  /** `abort` is called at the end of the grace. Returns the function that ends the registration. */
  add(abort: () => void): () => void {
    this.open.add(abort);
    if (this.isShuttingDown) abort();
    return () => void this.open.delete(abort);
  }

  /** Null beyond the account's share. Returns the function that ends the drain. */
  tryDrain(accountId: string): (() => void) | null {
    const permit = this.drains?.tryAcquire(accountId) ?? null;
    if (permit === null) return null;
    this.metrics.openDrains.inc();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      permit.release();
      this.metrics.openDrains.dec();
    };
  }

  /** The grace is over: streams end with an error, and their calls are settled. */
  abortAll(): void {
    this.isShuttingDown = true;
    for (const abort of this.open) abort();
  }
}
