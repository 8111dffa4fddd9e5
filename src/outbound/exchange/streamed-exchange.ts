// An exchange whose answer is read as it comes, with back-pressure to the other side.
import type { Dispatcher } from 'undici';
import type { CancelSignal } from '../../concurrency/cancellation.js';
import { announceExchange } from './bounded-reads.js';
import { OutboundFailure, urlParts } from './exchange.js';
import type { OutboundRequest, OutboundResponse } from './exchange.js';

const LARGE_BODY_BYTES = 65_536;

export interface StreamListener {
  onChunk(bytes: Buffer): void;
  onEnd(): void;
  onError(error: OutboundFailure): void;
}

/** An answer whose headers have come. Its connection serves another exchange only after a body that is read to its end. */
export interface OutboundStream extends Pick<OutboundResponse, 'status' | 'headers'> {
  /** Once. Bytes that have come before are delivered first. */
  listen(listener: StreamListener): void;
  pause(): void;
  resume(): void;
  /** No listener is called from here on. The connection is destroyed. */
  abort(): void;
}

/** Resolves with the headers of an answer of any status. Rejects as soon as the signal is aborted before them. */
export function openStream(
  dispatcher: Dispatcher,
  { method, url, headers, body }: OutboundRequest,
  maxResponseBytes: number,
  signal: CancelSignal,
): Promise<OutboundStream> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const { origin, path } = urlParts(url);
    const reader = new StreamReader(maxResponseBytes, resolve, reject);
    signal.addEventListener('abort', () => reader.giveUp(signal.reason as Error), { once: true });
    dispatcher.dispatch({ origin, path, method, ...sentOnce(headers, body) }, reader);
  });
}

/** The client keeps a body until the end of its answer. A stream may last for minutes: a large body is kept until it is sent. */
function sentOnce(
  headers: OutboundRequest['headers'],
  body: OutboundRequest['body'],
): Pick<Dispatcher.DispatchOptions, 'headers' | 'body'> {
  const length = body === undefined ? 0 : Buffer.byteLength(body);
  if (body === undefined || length < LARGE_BODY_BYTES) return { headers, body: body ?? null };
  const parts: (string | Buffer)[] = [body];
  const sent = {
    *[Symbol.iterator]() {
      yield* parts.splice(0);
    },
  };
  return {
    headers: { ...headers, 'content-length': String(length) },
    body: sent as unknown as NonNullable<Dispatcher.DispatchOptions['body']>,
  };
}

/** The first bytes of a body, for the text of an error. */
export function readBeginning(
  stream: OutboundStream,
  maxBytes: number,
  signal: CancelSignal,
): Promise<OutboundResponse> {
  const { status, headers } = stream;
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    const finish = (): void =>
      resolve({ status, headers, body: Buffer.concat(chunks).subarray(0, maxBytes) });
    signal.addEventListener(
      'abort',
      () => {
        stream.abort();
        reject(new OutboundFailure('the stream was cancelled'));
      },
      { once: true },
    );
    stream.listen({
      onChunk: (bytes) => {
        // The parser reuses its memory.
        chunks.push(Buffer.from(bytes));
        length += bytes.length;
        if (length < maxBytes) return;
        stream.abort();
        finish();
      },
      onEnd: finish,
      onError: reject,
    });
  });
}

class StreamReader implements Dispatcher.DispatchHandler, OutboundStream {
  status = 0;
  headers: OutboundResponse['headers'] = {};
  private controller: Dispatcher.DispatchController | null = null;
  private listener: StreamListener | null = null;
  /** Chunks that arrive before the listener is set. The stream is paused by then. */
  private readonly early: Buffer[] = [];
  private outcome: 'ended' | OutboundFailure | null = null;
  private hasAnswered = false;
  private isAborted = false;
  private reason: Error | null = null;

  constructor(
    private readonly limit: number,
    private readonly resolve: (stream: OutboundStream) => void,
    private readonly reject: (reason: Error) => void,
  ) {}

  /** Before the headers; afterwards the holder of the stream aborts it. */
  giveUp(reason: Error): void {
    if (this.hasAnswered) return;
    this.reason = reason;
    this.controller?.abort(reason);
    this.reject(reason);
  }

  listen(listener: StreamListener): void {
    this.listener = listener;
    for (const chunk of this.early.splice(0)) if (!this.isAborted) listener.onChunk(chunk);
    if (this.isAborted) return;
    if (this.outcome === null) this.resume();
    else this.finish(this.outcome);
  }

  pause(): void {
    this.controller?.pause();
  }

  resume(): void {
    this.controller?.resume();
  }

  abort(): void {
    if (this.isAborted) return;
    this.isAborted = true;
    if (this.outcome === null) this.controller?.abort(new OutboundFailure('the stream was cancelled'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    announceExchange(this.limit);
    if (this.reason) controller.abort(this.reason);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: OutboundResponse['headers'],
  ): void {
    // Informational responses precede the answer.
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    this.hasAnswered = true;
    controller.pause();
    this.resolve(this);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isAborted) return;
    if (this.listener) this.listener.onChunk(chunk);
    // The parser reuses its memory.
    else this.early.push(Buffer.from(chunk));
  }

  onResponseEnd(): void {
    this.finish('ended');
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.hasAnswered) {
      this.reject(error);
      return;
    }
    const { code } = error as { readonly code?: unknown };
    this.finish(new OutboundFailure(typeof code === 'string' ? code : error.message, { cause: error }));
  }

  private finish(outcome: 'ended' | OutboundFailure): void {
    this.outcome = outcome;
    if (this.isAborted || !this.listener) return;
    if (outcome === 'ended') this.listener.onEnd();
    else this.listener.onError(outcome);
  }
}
