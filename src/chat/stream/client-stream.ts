// The client's end of a stream: headers with the first byte, comments while nothing else is sent, and the end of clients
// that left or read too slowly (http/server/slow-transfers.ts). It outlives the attempts of a call, because a comment may go out before the first of them
// has an answer.
import { MovingTimer } from '../../concurrency/scheduler.js';
import type { Scheduler } from '../../concurrency/scheduler.js';
import type { CallerGone } from '../../domain/ending.js';

// Bytes that the client has not received. The upstream pauses beyond it.
const MAX_UNSENT_BYTES = 65_536;

/** The part of a ServerResponse that a stream needs. */
export interface StreamResponse {
  readonly writableLength: number;
  readonly destroyed: boolean;
  write(bytes: Buffer): boolean;
  end(): unknown;
  destroy(): unknown;
  on(event: 'drain' | 'close' | 'finish' | 'error', listener: () => void): unknown;
  removeListener(event: 'drain' | 'close' | 'finish' | 'error', listener: () => void): unknown;
}

export interface ClientStreamOptions {
  /** Writes status and headers, before the first byte. */
  readonly sendHeaders: () => void;
  /** Milliseconds without a byte; 0: no comments. */
  readonly keepAliveMs: number;
  /** Sent then. */
  readonly keepAlive: Buffer;
  readonly scheduler: Scheduler;
}

export class ClientStream {
  /** The status can no longer change. */
  hasSentHeaders = false;
  gone: CallerGone | null = null;
  /** Comments that were sent. */
  keepAlives = 0;
  /** Of the answer that this stream relays, instead of a comment; null: none now. */
  keepAliveEvent: () => Buffer | null = () => null;
  private isEnded = false;
  private isFinished = false;
  private readonly keepAlive: MovingTimer;
  private readonly drainListeners = new Set<() => void>();
  private readonly goneListeners = new Set<() => void>();

  constructor(
    private readonly response: StreamResponse,
    private readonly options: ClientStreamOptions,
  ) {
    const { scheduler, keepAliveMs } = options;
    this.keepAlive = new MovingTimer(scheduler, () => this.sendKeepAlive());
    response.on('drain', this.onDrained);
    response.on('close', this.onClosed);
    // The event `close` follows.
    response.on('error', ignore);
    response.on('finish', this.onFinished);
    if (response.destroyed) this.leave('left');
    else if (keepAliveMs > 0) this.keepAlive.set(keepAliveMs);
  }

  /** More bytes are unsent than a stream may buffer. */
  get isFull(): boolean {
    return this.gone === null && this.response.writableLength > MAX_UNSENT_BYTES;
  }

  /** Whole events only. */
  write(bytes: Buffer): void {
    if (this.gone !== null || this.isEnded) return;
    if (!this.hasSentHeaders) {
      this.hasSentHeaders = true;
      this.options.sendHeaders();
    }
    this.response.write(bytes);
    if (this.options.keepAliveMs > 0) this.keepAlive.set(this.options.keepAliveMs);
  }

  /** Resolves when the client has all bytes, or is gone. */
  end(): Promise<void> {
    this.keepAlive.clear();
    if (this.gone !== null || this.isFinished) return Promise.resolve();
    return new Promise((resolve) => {
      this.isEnded = true;
      this.goneListeners.add(resolve);
      this.response.on('finish', resolve);
      this.response.end();
    });
  }

  /** Stops all timers without ending the response: another writer takes it over. */
  release(): void {
    this.keepAlive.clear();
    this.response.removeListener('drain', this.onDrained);
    this.response.removeListener('close', this.onClosed);
    this.response.removeListener('finish', this.onFinished);
    this.drainListeners.clear();
    this.goneListeners.clear();
  }

  /** Calls `listener` when a full socket has room again. Returns the way to stop that. */
  onDrain(listener: () => void): () => void {
    this.drainListeners.add(listener);
    return () => this.drainListeners.delete(listener);
  }

  /** Calls `listener` once, when the client leaves before the end. Returns the way to stop that. */
  onGone(listener: () => void): () => void {
    this.goneListeners.add(listener);
    return () => this.goneListeners.delete(listener);
  }

  private sendKeepAlive(): void {
    const { keepAliveMs, keepAlive } = this.options;
    // A full socket needs no comment: bytes are waiting for the client.
    if (this.isFull) this.keepAlive.set(keepAliveMs);
    else {
      this.keepAlives++;
      this.write(this.keepAliveEvent() ?? keepAlive);
    }
  }

  /** The client has left, or reads too slowly: its connection ends. */
  leave(how: CallerGone): void {
    if (this.gone !== null) return;
    this.gone = how;
    this.keepAlive.clear();
    this.response.destroy();
    const listeners = [...this.goneListeners];
    this.goneListeners.clear();
    for (const listener of listeners) listener();
  }

  private readonly onDrained = (): void => {
    for (const listener of this.drainListeners) listener();
  };

  private readonly onFinished = (): void => {
    this.isFinished = true;
    this.keepAlive.clear();
  };

  private readonly onClosed = (): void => {
    if (!this.isFinished) this.leave('left');
  };
}

function ignore(): void {}
