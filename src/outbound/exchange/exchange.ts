// The request and answer that all clients of this folder share, within a time-out and a size limit.
import { setMaxListeners } from 'node:events';
import { LRUCache } from 'lru-cache';
import { errors } from 'undici';
import type { Dispatcher } from 'undici';
import { TickBatch } from '../../concurrency/tick-batch.js';
import { announceExchange, AnswerTooLarge } from './bounded-reads.js';
import { Cancellation } from '../../concurrency/cancellation.js';
import type { CancelSignal } from '../../concurrency/cancellation.js';

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
  /** Cancels the exchange, which then fails with OutboundFailure. */
  readonly signal?: CancelSignal;
  /** Bytes of the body that have come. */
  readonly onReceived?: (bytes: number) => void;
}

/** No answer within the time-out. */
export class OutboundTimeout extends Error {}

/** No connection within its time-out: nothing was sent. */
export class ConnectTimeout extends OutboundTimeout {}

/** No usable answer: refused, reset, truncated, or larger than allowed. */
export class OutboundFailure extends Error {}

/** An answer above the bound of its exchange. */
export class OversizedAnswer extends OutboundFailure {}

/** Not sent: an address that the URL guard refuses, or a header that cannot be sent. */
export class OutboundRejected extends OutboundFailure {}

/**
 * Runs an exchange until it ends, times out, or is cancelled; `work` must end with its signal. Throws OutboundTimeout
 * or OutboundFailure.
 */
export async function withinLimits<Result>(
  { timeout, signal }: Pick<SendLimits, 'timeout' | 'signal'>,
  work: (signal: CancelSignal) => Promise<Result>,
): Promise<Result> {
  // The caller's own signal may live as long as the process.
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
    if (error instanceof errors.ConnectTimeoutError)
      throw new ConnectTimeout('no answer in time', { cause: error });
    if (isTimeOver) throw new OutboundTimeout('no answer in time', { cause: error });
    if (error instanceof OutboundFailure) throw error;
    if (error instanceof AnswerTooLarge) throw new OversizedAnswer(error.message, { cause: error });
    if (error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError) {
      throw new OutboundRejected(`not sent: ${error.message}`, { cause: error });
    }
    throw new OutboundFailure(messageOf(error), { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

/** Any number of exchanges may share a signal; Node warns beyond ten listeners. */
export function allowListeners(signal: CancelSignal): void {
  if (signal instanceof AbortSignal) setMaxListeners(0, signal);
}

/** The handling of an answer beyond the bound. Only a success is ever cut, because its status is the result. */
export type Excess = 'fails' | 'is_cut';

interface ExchangeOptions {
  readonly excess?: Excess;
  readonly onReceived?: SendLimits['onReceived'] | undefined;
}

/** Resolves with an answer of any status. Follows no redirect. Rejects as soon as the signal is aborted. */
export function exchange(
  dispatcher: Dispatcher,
  { method, url, headers, body }: OutboundRequest,
  maxResponseBytes: number,
  signal: CancelSignal,
  { excess = 'fails', onReceived }: ExchangeOptions = {},
): Promise<OutboundResponse> {
  return new Promise((resolve, reject) => {
    const { origin, path } = urlParts(url);
    signal.throwIfAborted();
    const reader = new AnswerReader(maxResponseBytes, excess, onReceived, resolve, reject);
    signal.addEventListener('abort', () => reader.giveUp(signal.reason as Error), { once: true });
    dispatcher.dispatch({ origin, path, method, headers, body: body ?? null }, reader);
  });
}

/** Returns the parts of an address to which requests are sent. */
export function urlParts(url: string): UrlParts {
  return PARTS.memo(url);
}

interface UrlParts {
  readonly origin: string;
  readonly path: string;
}

/** Parsed addresses, cached: there are few, and each is used repeatedly. */
const PARTS = new LRUCache<string, UrlParts>({
  max: 1_000,
  memoMethod: (url) => {
    const { origin, pathname, search } = new URL(url);
    return { origin, path: pathname + search };
  },
});

/** Collects an answer. The stream of undici's `request` costs more than the rest of a small exchange. */
class AnswerReader implements Dispatcher.DispatchHandler {
  private readonly chunks: Buffer[] = [];
  /** Memory for the whole body, once enough of the announced length has come to trust it. */
  private room: Buffer | null = null;
  private length = 0;
  private status = 0;
  private headers: OutboundResponse['headers'] = {};
  private controller: Dispatcher.DispatchController | null = null;
  private reason: Error | null = null;

  constructor(
    private readonly limit: number,
    private readonly excess: Excess,
    private readonly onReceived: SendLimits['onReceived'],
    private readonly resolve: (response: OutboundResponse) => void,
    private readonly reject: (reason: Error) => void,
  ) {}

  /** undici accepts a cancellation only once the request is on its connection. */
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
   * Copied chunks are garbage before V8 traces them; chunks that are kept until the end of a large answer survive
   * several collections. The buffer itself survives fewer when it is allocated late.
   */
  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const at = this.length;
    this.length += chunk.length;
    this.onReceived?.(this.length);
    if (this.length > this.limit) {
      if (this.mayBeCut && this.room === null) {
        const body = Buffer.concat([...this.chunks, chunk], this.limit);
        this.resolve({ status: this.status, headers: this.headers, body });
      }
      // The answer was resolved when it was cut; this call only closes the connection.
      this.giveUp(new OversizedAnswer(`the answer is larger than ${this.limit} bytes`));
    } else if (this.room === null) {
      this.chunks.push(chunk);
      this.makeRoom();
    } else if (this.length <= this.room.length) this.room.set(chunk, at);
    else this.giveUp(new OutboundFailure('the answer is longer than its content-length'));
  }

  private get mayBeCut(): boolean {
    return this.excess === 'is_cut' && this.status >= 200 && this.status < 300;
  }

  /** Allocates once half of the announced bytes have come, unless the body is complete or beyond the bound. */
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

  /** Resolves the promise of the exchange. */
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

/** Complete answers: all of one tick are resolved together. */
const ENDED = new TickBatch<AnswerReader>((reader) => reader.answer());

function joined(chunks: readonly Buffer[], length: number): Buffer {
  const [first, ...others] = chunks;
  return first && others.length === 0 ? first : Buffer.concat(chunks, length);
}

/** The system's code if there is one (ECONNREFUSED), which is more precise than the message. */
function messageOf(error: unknown): string {
  // undici rejects an answer that begins with this interim status, and uses the message for nothing else.
  if (error instanceof errors.SocketError && error.message === 'bad response')
    return 'the answer began with 100 Continue, which was not requested';
  if (error instanceof errors.RequestAbortedError) {
    const [, status] = /^Proxy response \((\d+)\)/.exec(error.message) ?? [];
    if (status !== undefined) return `the proxy answered ${status}`;
  }
  const { code, message } = error as { code?: unknown; message?: unknown };
  return typeof code === 'string' ? code : String(message);
}
