// The only opener of sockets to upstreams: pooled connections, a time-out for every call, a cap on every answer.
import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Agent, errors } from 'undici';

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

@Injectable()
export class HttpClient implements OnApplicationShutdown {
  private readonly agent = new Agent({
    connections: 256,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connect: { timeout: 10_000 },
    // The signal of each call bounds them.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  /** Resolves with any answer, whatever its status. Throws OutboundTimeout or OutboundFailure. Follows no redirect. */
  async send(request: OutboundRequest, limits: SendLimits): Promise<OutboundResponse> {
    const url = new URL(request.url);
    const timeout = AbortSignal.timeout(Math.ceil(limits.timeout));
    const signal = limits.signal ? AbortSignal.any([timeout, limits.signal]) : timeout;
    try {
      const response = await this.agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        signal,
      });
      const body = await readCapped(response.body, limits.maxResponseBytes);
      return { status: response.statusCode, headers: response.headers, body };
    } catch (error) {
      if (timeout.aborted || error instanceof errors.ConnectTimeoutError) {
        throw new OutboundTimeout('no answer in time', { cause: error });
      }
      if (error instanceof OutboundFailure) throw error;
      throw new OutboundFailure(messageOf(error), { cause: error });
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.close();
  }
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
