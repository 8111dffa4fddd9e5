// Moves one upstream stream through its relay to the client, with back-pressure from the client's socket to the
// upstream's. It ends once, and writes nothing of its own: usage, errors and the end of the stream follow the commit of the
// record.
import type { ChatFailure } from './chat-failure.js';
import type { ChatStreamRelay } from './chat-stream-relay.js';
import type { ClientStream } from './client-stream.js';
import { MovingTimer } from '../../concurrency/scheduler.js';
import type { Scheduler } from '../../concurrency/scheduler.js';
import { endingOf } from '../../domain/ending.js';
import type { CallStop, EndFacts, Ending } from '../../domain/ending.js';

// Milliseconds in which usage may follow the last finish reason.
const USAGE_MS = 5_000;
// Milliseconds and bytes in which a body may end after `[DONE]`: its connection can serve another call then.
const END_MS = 1_000;
const END_BYTES = 16_384;
// Milliseconds that a stream has waited for its client, after which the provider's loss of patience is the client's doing.
const STALL_MS = 10_000;

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

export class ChatPump {
  /** Resolves once; never rejects. */
  readonly ended: Promise<Ending>;
  /** Resolves when the answer is this endpoint's, or the pump has ended before. */
  readonly opened: Promise<void>;
  private resolveEnded: (ending: Ending) => void;
  private resolveOpened: () => void;
  private hasOpened = false;
  private hasEnded = false;
  private isUpstreamOver = false;
  private isPaused = false;
  private isDraining = false;
  private isAwaitingUsage = false;
  /** Content behind finish reasons that has been seen. */
  private continuations = 0;
  private lateBytes = 0;
  /** Of the scheduler, while the stream waits for the client. */
  private pausedAt = 0;
  private stalledMs = 0;
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

  /** Ends the work from outside. Nothing fails an answer whose choices have all finished. */
  stop(stop: CallStop): void {
    const { relay } = this.options;
    if (this.hasEnded) return;
    if (relay.awaitsUsageOnly) {
      relay.finish();
      this.afterRead();
    } else this.settle({ stop });
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
    const { relay } = this.options;
    relay.end();
    if (relay.failure && this.isStalled) this.settle({ caller: 'too_slow' });
    else this.afterRead();
  }

  private onError({ message }: Error): void {
    this.isUpstreamOver = true;
    if (this.hasEnded) {
      this.timer.clear();
      return;
    }
    this.fail({ kind: 'connection', message });
  }

  /** A complete answer loses nothing but its usage. */
  private fail(failure: ChatFailure): void {
    const { relay } = this.options;
    relay.fail(failure);
    if (relay.failure === null) this.afterRead();
    else this.settle(this.isStalled ? { caller: 'too_slow' } : {});
  }

  private get isStalled(): boolean {
    const { scheduler } = this.options;
    return this.stalledMs + (this.isPaused ? scheduler.now() - this.pausedAt : 0) >= STALL_MS;
  }

  private afterRead(): void {
    const { relay, client } = this.options;
    this.open();
    const bytes = relay.take();
    if (bytes !== null) client.write(bytes);
    this.options.onHeld?.(relay.heldBytes);
    if (relay.isFinished) {
      this.settle(relay.boundExceeded === null ? {} : { limit: 'bound' });
      return;
    }
    // After the last finish reason usage is of interest, and a slow client must not delay it.
    const hasContinued = relay.continuations > this.continuations;
    this.continuations = relay.continuations;
    if (hasContinued) this.isAwaitingUsage = false;
    const isOpen = hasContinued || !relay.awaitsUsageOnly;
    if (!this.isPaused && !this.isDraining && client.isFull && isOpen) {
      this.isPaused = true;
      this.pausedAt = this.options.scheduler.now();
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
      this.timer.set(this.isPaused ? Infinity : USAGE_MS);
    } else this.timer.set(this.isPaused ? Infinity : limits.idleMs);
  }

  private onTime(): void {
    const { relay } = this.options;
    if (this.hasEnded) this.stopUpstream();
    else if (this.isDraining) this.settle({});
    else if (this.isAwaitingUsage) {
      relay.finish();
      this.afterRead();
    } else if (this.hasOpened) this.fail({ kind: 'timeout', message: 'the stream stopped before its end' });
    else {
      relay.fail({ kind: 'timeout', message: 'no content in time' });
      this.settle({ limit: 'timeout' });
    }
  }

  private onDrain(): void {
    if (!this.isPaused || this.hasEnded) return;
    this.isAwaitingUsage = false;
    this.resume();
    this.wait();
  }

  private resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.stalledMs += this.options.scheduler.now() - this.pausedAt;
    this.options.upstream.resume();
  }

  private onGone(): void {
    if (this.hasEnded || this.isDraining) return;
    const decision = this.options.onDisconnect();
    if (decision === 'cancel') {
      this.settle({});
      return;
    }
    this.isDraining = true;
    this.options.relay.discardOutput();
    this.timer.clear();
    this.timer.set(decision.drainMs);
    this.resume();
  }

  /** `facts`: of this end. A client that is gone has ended the call already. */
  private settle(facts: Partial<Pick<EndFacts, 'caller' | 'stop' | 'limit'>>): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    const { relay, client } = this.options;
    this.timer.clear();
    for (const stop of this.stopListening) stop();
    // The upstream has nothing more to say: its connection can serve another call.
    if (!relay.isFinished || relay.failure) this.stopUpstream();
    else if (!this.isUpstreamOver) {
      this.resume();
      this.timer.set(END_MS);
    }
    const isComplete = (relay.isFinished && !relay.failure) || relay.awaitsUsageOnly;
    const { hasContent } = relay;
    const caller = client.gone ?? (isComplete ? null : (facts.caller ?? null));
    this.resolveOpened();
    const { stop = null, limit = null } = facts;
    this.resolveEnded(endingOf({ hasContent, isComplete, caller, stop, limit }));
  }

  private stopUpstream(): void {
    this.timer.clear();
    if (this.isUpstreamOver) return;
    this.isUpstreamOver = true;
    this.options.upstream.abort();
  }
}
