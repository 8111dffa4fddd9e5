// The chats of this process: the end of the process ends those that are still open, and drains have a bound.
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { AppError } from '../../domain/errors.js';
import { ChatMetrics } from '../chat-metrics.js';

/** The error of calls that outlast the grace. */
export function shuttingDown(): AppError {
  return new AppError('unavailable', { detail: 'the service is shutting down' });
}

@Injectable()
export class OpenChats {
  isShuttingDown = false;
  private drains = 0;
  private readonly open = new Set<() => void>();

  constructor(
    private readonly config: AppConfig,
    private readonly metrics: ChatMetrics,
  ) {}

  get size(): number {
    return this.open.size;
  }

  /** `abort` is called at the end of the grace. Returns the function that ends the registration. */
  add(abort: () => void): () => void {
    this.open.add(abort);
    if (this.isShuttingDown) abort();
    return () => void this.open.delete(abort);
  }

  /** Null beyond the bound of drains. Returns the function that ends the drain. */
  tryDrain(): (() => void) | null {
    if (this.drains >= this.config.chat.maxDrains) return null;
    this.drains++;
    this.metrics.openDrains.inc();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.drains--;
      this.metrics.openDrains.dec();
    };
  }

  /** The grace is over: streams end with an error, and their calls are settled. */
  abortAll(): void {
    this.isShuttingDown = true;
    for (const abort of this.open) abort();
  }
}
