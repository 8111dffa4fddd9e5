// Moves one upstream stream through its relay to the client, with back-pressure from the client's socket to the
// upstream's. It ends once, and writes nothing of its own: usage, errors and the end of the stream follow the commit of the
// record.
import type { ChatFailure } from './chat-failure.js';
import type { ChatStreamRelay } from './chat-stream-relay.js';
import type { ClientStream } from './client-stream.js';
import { MovingTimer } from '../../concurrency/scheduler.js';
import type { Scheduler } from '../../concurrency/scheduler.js';

// Milliseconds in which usage may follow the last finish reason.
const USAGE_MS = 5_000;
// Milliseconds and bytes in which a body may end after `[DONE]`: its connection can serve another call then.
const END_MS = 1_000;
const END_BYTES = 16_384;

export interface UpstreamListener {
  onChunk(bytes: Buffer): void;
  onEnd(): void;
  onError(error: Error): void;
}

/** The body of an upstream's answer. After abort() no listener is called. */
export interface UpstreamBody {
  listen(listener: UpstreamListener): void;
  pause(): void;
  resume(): void;
  abort(): void;
}

/** After the client has left: end the upstream's work at once, or read on for its usage. */
export type DisconnectDecision = 'cancel' | { readonly drainMs: number };

export interface PumpLimits {
  /** Milliseconds from the start to the first content. Comments of the upstream do not extend it. */
  readonly firstTokenMs: number;
  /** Milliseconds without a byte of the upstream after the first content. */
  readonly idleMs: number;
}

export interface PumpOptions {
  readonly upstream: UpstreamBody;
  readonly relay: ChatStreamRelay;
  readonly client: ClientStream;
  readonly limits: PumpLimits;
  readonly scheduler: Scheduler;
  /** Called once, when the client leaves before the upstream's end. */
  onDisconnect(): DisconnectDecision;
  /** The first content is about to be written. */
  onFirstContent?(): void;
  /** Bytes that the stream holds, after each read of the upstream. */
  onHeld?(bytes: number): void;
}

/**
 * `finished`, `failed`: by the relay. `cancelled`: the client left and the upstream's work was ended. `aborted`: by abort().
 * A drain that reaches the end is `finished` or `failed`.
 */
export type PumpEnd = 'finished' | 'failed' | 'cancelled' | 'aborted';

export class ChatPump {
  /** Resolves once; never rejects. */
  readonly ended: Promise<PumpEnd>;
  /** Resolves when the answer is this endpoint's, or the pump has ended before. */
  readonly opened: Promise<void>;
  private resolveEnded: (end: PumpEnd) => void;
  private resolveOpened: () => void;
  private hasOpened = false;
  private hasEnded = false;
  private isUpstreamOver = false;
  private isPaused = false;
  private isDraining = false;
  private isAwaitingUsage = false;
  private lateBytes = 0;
  private readonly timer: MovingTimer;
  private readonly stopListening: (() => void)[];

  constructor(private readonly options: PumpOptions) {
    const { upstream, client, scheduler } = options;
    this.ended = new Promise((resolve) => (this.resolveEnded = resolve));
    this.opened = new Promise((resolve) => (this.resolveOpened = resolve));
    this.timer = new MovingTimer(scheduler, () => this.onTime());
    this.stopListening = [client.onDrain(() => this.onDrain()), client.onGone(() => this.onGone())];
    this.timer.set(options.limits.firstTokenMs);
    this.afterRead();
    if (this.hasEnded) return;
    if (client.gone !== null) this.onGone();
    if (this.hasEnded) return;
    upstream.listen({
      onChunk: (bytes) => this.onChunk(bytes),
      onEnd: () => this.onEnd(),
      onError: (error) => this.onError(error),
    });
  }

  /** Ends the work from outside: the call's deadline, or the end of the process. */
  abort(failure: ChatFailure): void {
    if (this.hasEnded) return;
    this.options.relay.fail(failure);
    this.settle('aborted');
  }

  private onChunk(bytes: Buffer): void {
    if (this.hasEnded) {
      this.lateBytes += bytes.length;
      if (this.lateBytes > END_BYTES) this.stopUpstream();
      return;
    }
    this.options.relay.push(bytes);
    this.afterRead();
  }

  private onEnd(): void {
    this.isUpstreamOver = true;
    if (this.hasEnded) {
      this.timer.clear();
      return;
    }
    this.options.relay.end();
    this.afterRead();
  }

  private onError({ message }: Error): void {
    this.isUpstreamOver = true;
    if (this.hasEnded) {
      this.timer.clear();
      return;
    }
    const { relay } = this.options;
    // The answer was complete: only its usage is lost.
    if (relay.hasFinishedChoices) relay.finish();
    else relay.fail({ kind: 'connection', message });
    this.afterRead();
  }

  private afterRead(): void {
    const { relay, client } = this.options;
    this.open();
    const bytes = relay.take();
    // After the last finish reason only usage is of interest, and a slow client must not delay it.
    if (bytes && !(this.isAwaitingUsage && client.isFull)) client.write(bytes);
    this.options.onHeld?.(relay.heldBytes);
    if (relay.isFinished) {
      this.settle(relay.failure ? 'failed' : 'finished');
      return;
    }
    if (!this.isPaused && !this.isDraining && client.isFull && !relay.awaitsUsageOnly) {
      this.isPaused = true;
      this.options.upstream.pause();
    }
    this.wait();
  }

  private open(): void {
    if (this.hasOpened || !this.options.relay.hasContent) return;
    this.hasOpened = true;
    this.options.onFirstContent?.();
    this.resolveOpened();
  }

  /** Sets the time-out of the present phase. The drain and the first token keep theirs. */
  private wait(): void {
    if (this.hasEnded || this.isDraining || this.isAwaitingUsage || !this.hasOpened) return;
    const { relay, limits } = this.options;
    if (relay.awaitsUsageOnly) {
      this.isAwaitingUsage = true;
      this.timer.clear();
      this.timer.set(USAGE_MS);
    } else this.timer.set(this.isPaused ? Infinity : limits.idleMs);
  }

  private onTime(): void {
    const { relay } = this.options;
    if (this.hasEnded) this.stopUpstream();
    else if (this.isDraining) this.settle('cancelled');
    else if (this.isAwaitingUsage) {
      relay.finish();
      this.settle('finished');
    } else {
      const message = this.hasOpened ? 'the stream stopped before its end' : 'no content in time';
      relay.fail({ kind: 'timeout', message });
      this.settle('failed');
    }
  }

  private onDrain(): void {
    if (!this.isPaused || this.hasEnded) return;
    this.isPaused = false;
    this.options.upstream.resume();
    this.wait();
  }

  private onGone(): void {
    if (this.hasEnded || this.isDraining) return;
    const { relay, upstream } = this.options;
    const decision = this.options.onDisconnect();
    if (decision === 'cancel') {
      this.settle('cancelled');
      return;
    }
    this.isDraining = true;
    relay.discardOutput();
    this.timer.clear();
    this.timer.set(decision.drainMs);
    if (!this.isPaused) return;
    this.isPaused = false;
    upstream.resume();
  }

  private settle(end: PumpEnd): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.timer.clear();
    for (const stop of this.stopListening) stop();
    if (end !== 'finished') this.stopUpstream();
    else if (!this.isUpstreamOver) {
      if (this.isPaused) this.options.upstream.resume();
      this.timer.set(END_MS);
    }
    this.resolveOpened();
    this.resolveEnded(end);
  }

  private stopUpstream(): void {
    this.timer.clear();
    if (this.isUpstreamOver) return;
    this.isUpstreamOver = true;
    this.options.upstream.abort();
  }
}
