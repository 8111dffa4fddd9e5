// Ends the waits of one chat call: when its client leaves, and at the end of the process (docs/contract.md#chat-disconnects).
import { Cancellation } from '../../concurrency/cancellation.js';
import type { AppError } from '../../domain/errors.js';
import type { ChatClient } from '../chat-call.js';
import { shuttingDown } from './open-chats.js';
import type { OpenChats } from './open-chats.js';

export class CallEnding {
  /** Cancels waits for money, for a permit and between attempts. */
  readonly cancellation = new Cancellation();
  private stopped: AppError | null = null;
  private readonly listeners = new Set<() => void>();
  private readonly leave: readonly (() => void)[];

  constructor(
    private readonly client: Pick<ChatClient, 'isGone' | 'onGone'>,
    openChats: Pick<OpenChats, 'add'>,
  ) {
    this.leave = [client.onGone(() => this.cancellation.abort()), openChats.add(() => this.stop())];
    if (client.isGone) this.cancellation.abort();
  }

  /** The end of the process, for a call whose client is still there. */
  get error(): AppError | null {
    return this.client.isGone ? null : this.stopped;
  }

  /** Calls `listener` at the end of the process, which may have come. Returns the way to stop that. */
  onStop(listener: () => void): () => void {
    this.listeners.add(listener);
    if (this.stopped) listener();
    return () => void this.listeners.delete(listener);
  }

  close(): void {
    for (const leave of this.leave) leave();
  }

  private stop(): void {
    this.stopped ??= shuttingDown();
    this.cancellation.abort();
    for (const listener of this.listeners) listener();
  }
}
