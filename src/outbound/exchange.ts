// What every client of this folder has in common: a request and its answer, within a time-out and a cap.
import { setMaxListeners } from 'node:events';
import { errors } from 'undici';
import type { Dispatcher } from 'undici';

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
  readonly signal?: AbortSignal;
}

/** No answer within the time-out. */
export class OutboundTimeout extends Error {}

/** No usable answer: refused, reset, cut off, or larger than allowed. */
export class OutboundFailure extends Error {}

/** Not sent: an address that the URL guard keeps requests from, or a value that no header can hold. */
export class OutboundRefused extends OutboundFailure {}

/** Runs an exchange until it ends, the time is over, or the caller gives up. Throws OutboundTimeout or OutboundFailure. */
export async function withinLimits<Result>(
  { timeout, signal }: Pick<SendLimits, 'timeout' | 'signal'>,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  // Not AbortSignal.any: a caller's signal may live as long as the process and would remember every exchange.
  const controller = new AbortController();
  let isTimeOver = false;
  const timer = setTimeout(() => {
    isTimeOver = true;
    controller.abort();
  }, Math.ceil(timeout));
  const giveUp = (): void => controller.abort();
  if (signal) {
    // Any number of exchanges may end with one signal; Node warns of more than ten.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', giveUp, { once: true });
  }
  try {
    // undici hears of a signal only once it is connected.
    const aborted = new Promise<never>((_resolve, reject) => {
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error));
    });
    if (signal?.aborted) giveUp();
    return await Promise.race([aborted, work(controller.signal)]);
  } catch (error) {
    if (isTimeOver || error instanceof errors.ConnectTimeoutError) {
      throw new OutboundTimeout('no answer in time', { cause: error });
    }
    if (error instanceof OutboundFailure) throw error;
    if (error instanceof errors.InvalidArgumentError) {
      throw new OutboundRefused(`not sent: ${error.message}`, { cause: error });
    }
    throw new OutboundFailure(messageOf(error), { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

/** Resolves with any answer, whatever its status. Follows no redirect. */
export async function exchange(
  dispatcher: Dispatcher,
  { method, url, headers, body }: OutboundRequest,
  maxResponseBytes: number,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const { origin, pathname, search } = new URL(url);
  const response = await dispatcher.request({
    origin,
    path: pathname + search,
    method,
    headers,
    body: body ?? null,
    signal,
  });
  return {
    status: response.statusCode,
    headers: response.headers,
    body: await readCapped(response.body, maxResponseBytes),
  };
}

async function readCapped(body: AsyncIterable<Buffer> & { destroy(): void }, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > limit) {
      body.destroy();
      throw new OutboundFailure(`the answer is larger than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length);
}

/** The system's code where there is one (ECONNREFUSED): it tells more than the sentence around it. */
function messageOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return typeof code === 'string' ? code : String(message);
}
