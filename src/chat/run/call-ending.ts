// Ends the waits of one chat call: when its client leaves, at the end of the process (docs/contract.md#chat-disconnects), and
// when its reserved money has lapsed.
import { Cancellation } from '../../concurrency/cancellation.js';
import type { AppError } from '../../domain/errors.js';
import type { ChatClient } from '../chat-call.js';
import { shuttingDown } from './open-chats.js';
import type { OpenChats } from './open-chats.js';

export class CallEnding {
  /** Cancels waits for money, for a permit and between attempts. */
  readonly cancellation = new Cancellation();
  private stopped: AppError | null = null;
  private readonly listeners = new Set<(error: AppError) => void>();
  private readonly leave: readonly (() => void)[];

  constructor(
    private readonly client: Pick<ChatClient, 'isGone' | 'onGone'>,
    openChats: Pick<OpenChats, 'add'>,
  ) {
    this.leave = [
      client.onGone(() => this.cancellation.abort()),
      openChats.add(() => this.stop(shuttingDown())),
    ];
    if (client.isGone) this.cancellation.abort();
  }

  /** Why this service has ended the call, for a call whose client is still there. */
  get error(): AppError | null {
    return this.client.isGone ? null : this.stopped;
  }

  /** Calls `listener` when this service ends the call, which may have come. Returns the way to stop that. */
  onStop(listener: (error: AppError) => void): () => void {
    this.listeners.add(listener);
    if (this.stopped) listener(this.stopped);
    return () => void this.listeners.delete(listener);
  }

  close(): void {
    for (const leave of this.leave) leave();
  }

  stop(error: AppError): void {
    if (this.stopped) return;
    this.stopped = error;
    this.cancellation.abort();
    for (const listener of this.listeners) listener(error);
  }
}
