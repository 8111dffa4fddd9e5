// What every client of this folder has in common: a request and its answer, within a time-out and a cap.
import { setMaxListeners } from 'node:events';
import { LRUCache } from 'lru-cache';
import { errors } from 'undici';
import type { Dispatcher } from 'undici';
import { TickBatch } from '../concurrency/tick-batch.js';
import { announceExchange, AnswerTooLarge } from './bounded-reads.js';
import { Cancellation } from '../concurrency/cancellation.js';
import type { CancelSignal } from '../concurrency/cancellation.js';

export interface OutboundRequest {
  readonly method: 'POST' | 'PUT' | 'GET';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface SendLimits {
  /** Milliseconds for the whole exchange. */
  readonly timeout: number;
  readonly maxResponseBytes: number;
  /** Gives the exchange up; it then fails with OutboundFailure. */
  readonly signal?: CancelSignal;
}

/** No answer within the time-out. */
export class OutboundTimeout extends Error {}

/** No usable answer: refused, reset, cut off, or larger than allowed. */
export class OutboundFailure extends Error {}

/** Not sent: an address that the URL guard keeps requests from, or a header that cannot be sent. */
export class OutboundRejected extends OutboundFailure {}

/**
 * Runs an exchange until it ends, the time is over, or the caller gives up; `work` has to end when its signal says so.
 * Throws OutboundTimeout or OutboundFailure.
 */
export async function withinLimits<Result>(
  { timeout, signal }: Pick<SendLimits, 'timeout' | 'signal'>,
  work: (signal: CancelSignal) => Promise<Result>,
): Promise<Result> {
  // Not the caller's own signal: that one may live as long as the process.
  const cancellation = new Cancellation();
  let isTimeOver = false;
  const timer = setTimeout(() => {
    isTimeOver = true;
    cancellation.abort();
  }, Math.ceil(timeout));
  const giveUp = (): void => cancellation.abort();
  if (signal) {
    allowListeners(signal);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
  }
  try {
    return await work(cancellation);
  } catch (error) {
    if (isTimeOver || error instanceof errors.ConnectTimeoutError) {
      throw new OutboundTimeout('no answer in time', { cause: error });
    }
    if (error instanceof OutboundFailure) throw error;
    if (error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError) {
      throw new OutboundRejected(`not sent: ${error.message}`, { cause: error });
    }
    throw new OutboundFailure(messageOf(error), { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

/** Any number of exchanges may end with one signal; Node warns of more than ten. */
export function allowListeners(signal: CancelSignal): void {
  if (signal instanceof AbortSignal) setMaxListeners(0, signal);
}

/** What becomes of an answer that is larger than allowed; a success alone is ever cut, since its status says it all. */
export type Excess = 'fails' | 'is_cut';

/** Resolves with any answer, whatever its status. Follows no redirect. Rejects as soon as the signal is aborted. */
export function exchange(
  dispatcher: Dispatcher,
  { method, url, headers, body }: OutboundRequest,
  maxResponseBytes: number,
  signal: CancelSignal,
  excess: Excess = 'fails',
): Promise<OutboundResponse> {
  return new Promise((resolve, reject) => {
    const { origin, path } = PARTS.memo(url);
    signal.throwIfAborted();
    const reader = new AnswerReader(maxResponseBytes, excess, resolve, reject);
    signal.addEventListener('abort', () => reader.giveUp(signal.reason as Error), { once: true });
    dispatcher.dispatch({ origin, path, method, headers, body: body ?? null }, reader);
  });
}

interface UrlParts {
  readonly origin: string;
  readonly path: string;
}

/** Of the addresses that were asked last: there are few, and each is asked again and again. */
const PARTS = new LRUCache<string, UrlParts>({
  max: 1_000,
  memoMethod: (url) => {
    const { origin, pathname, search } = new URL(url);
    return { origin, path: pathname + search };
  },
});

/** Gathers an answer. Not by undici's `request`: its stream costs more than the whole rest of a small exchange. */
class AnswerReader implements Dispatcher.DispatchHandler {
  private readonly chunks: Buffer[] = [];
  /** For the whole body, where its length is known and so much of it has come that this is to be believed. */
  private room: Buffer | null = null;
  private length = 0;
  private status = 0;
  private headers: OutboundResponse['headers'] = {};
  private controller: Dispatcher.DispatchController | null = null;
  private reason: Error | null = null;

  constructor(
    private readonly limit: number,
    private readonly excess: Excess,
    private readonly resolve: (response: OutboundResponse) => void,
    private readonly reject: (reason: Error) => void,
  ) {}

  /** undici can be told only once the request is on its connection. */
  giveUp(reason: Error): void {
    this.reason = reason;
    this.controller?.abort(reason);
    this.reject(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    announceExchange(this.limit);
    if (this.reason) controller.abort(this.reason);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: OutboundResponse['headers'],
  ): void {
    this.status = status;
    this.headers = headers;
  }

  /**
   * Chunks that are copied as they come are dead before V8 looks at them; kept until the last one, those of a large
   * answer outlive collection after collection. The room itself has to outlive fewer when it is made late.
   */
  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const at = this.length;
    this.length += chunk.length;
    if (this.length > this.limit) {
      if (this.mayBeCut && this.room === null) {
        const body = Buffer.concat([...this.chunks, chunk], this.limit);
        this.resolve({ status: this.status, headers: this.headers, body });
      }
      // Of an answer that was cut this only ends the connection.
      this.giveUp(new OutboundFailure(`the answer is larger than ${this.limit} bytes`));
    } else if (this.room === null) {
      this.chunks.push(chunk);
      this.makeRoom();
    } else if (this.length <= this.room.length) this.room.set(chunk, at);
    else this.giveUp(new OutboundFailure('the answer is longer than it said'));
  }

  private get mayBeCut(): boolean {
    return this.excess === 'is_cut' && this.status >= 200 && this.status < 300;
  }

  /** Once half of what is announced has come, unless that is all of it or beyond the limit. */
  private makeRoom(): void {
    const announced = Number(this.headers['content-length']);
    const isHalf = this.length < announced && this.length * 2 >= announced;
    if (!isHalf || announced > this.limit) return;
    this.room = Buffer.allocUnsafeSlow(announced);
    let at = 0;
    for (const chunk of this.chunks.splice(0)) {
      this.room.set(chunk, at);
      at += chunk.length;
    }
  }

  onResponseEnd(): void {
    ENDED.add(this);
  }

  /** Those that wait for it go on. */
  answer(): void {
    const body = this.room?.subarray(0, this.length) ?? joined(this.chunks, this.length);
    this.resolve({ status: this.status, headers: this.headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof AnswerTooLarge && this.mayBeCut) {
      const body = this.room?.subarray(0, this.length) ?? Buffer.concat(this.chunks);
      this.resolve({ status: this.status, headers: this.headers, body });
    }
    this.reject(error);
  }
}

/** Answers that are whole: what becomes of them is done for all of a turn in one go. */
const ENDED = new TickBatch<AnswerReader>((reader) => reader.answer());

function joined(chunks: readonly Buffer[], length: number): Buffer {
  const [first, ...others] = chunks;
  return first && others.length === 0 ? first : Buffer.concat(chunks, length);
}

/** The system's code where there is one (ECONNREFUSED): it tells more than the sentence around it. */
function messageOf(error: unknown): string {
  // undici takes no answer that begins with an interim one of this status, and calls nothing else so.
  if (error instanceof errors.SocketError && error.message === 'bad response')
    return 'the answer began with 100 Continue, which was not asked for';
  const { code, message } = error as { code?: unknown; message?: unknown };
  return typeof code === 'string' ? code : String(message);
}
