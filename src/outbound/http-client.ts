// Requests to providers, whose addresses the operator configures: pooled connections to few origins.
import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Dispatcher } from 'undici';
import type { OutboundProxies } from '../config/environment-reader.js';
import { decompress, decompressStream } from './exchange/decompress.js';
import { withoutEchoedSecrets } from './exchange/echoed-secrets.js';
import { exchange, withinLimits } from './exchange/exchange.js';
import type { OutboundRequest, OutboundResponse, SendLimits } from './exchange/exchange.js';
import { openStream, readBeginning } from './exchange/streamed-exchange.js';
import type { OutboundStream } from './exchange/streamed-exchange.js';
import { createProviderAgent } from './connections/provider-agent.js';

export { ConnectTimeout, OutboundFailure, OutboundTimeout, OversizedAnswer } from './exchange/exchange.js';
export type { OutboundStream } from './exchange/streamed-exchange.js';

// Errors are small; anything longer is a page of a proxy.
const MAX_ERROR_BYTES = 65_536;

@Injectable()
export class HttpClient implements OnApplicationShutdown {
  private readonly agent: Dispatcher;

  constructor(proxies: OutboundProxies = {}) {
    this.agent = createProviderAgent(proxies);
  }

  /**
   * Resolves with an answer of any status, decompressed. Follows no redirect. Throws OutboundTimeout, OutboundFailure,
   * or BrokenAnswer for a success that cannot be decompressed.
   */
  async send(request: OutboundRequest, limits: SendLimits): Promise<OutboundResponse> {
    const { maxResponseBytes, onReceived } = limits;
    const response = await withinLimits(limits, (signal) =>
      exchange(this.agent, request, maxResponseBytes, signal, { onReceived }),
    );
    return withoutEchoedSecrets(await readable(response, maxResponseBytes), request);
  }

  /**
   * Resolves with the stream of an answer that `accepts` takes by its headers, else with the beginning of its body.
   * `timeout` is until then. A compressed stream is decompressed as it comes. Throws OutboundTimeout, OutboundFailure, or
   * BrokenAnswer for a compression that is not known.
   */
  async open(
    request: OutboundRequest,
    limits: SendLimits,
    accepts: (answer: Pick<OutboundResponse, 'status' | 'headers'>) => boolean,
  ): Promise<OutboundStream | OutboundResponse> {
    const answer = await withinLimits(limits, async (signal) => {
      const stream = await openStream(this.agent, request, limits.maxResponseBytes, signal);
      return accepts(stream) ? stream : readBeginning(stream, MAX_ERROR_BYTES, signal);
    });
    if (!isWhole(answer)) return decompressStream(answer);
    return withoutEchoedSecrets(await readable(answer, MAX_ERROR_BYTES), request);
  }

  /** Exchanges that are still in flight have outlasted SHUTDOWN_GRACE_MS: waiting for them would have no bound. */
  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }
}

export function isWhole(answer: OutboundStream | OutboundResponse): answer is OutboundResponse {
  return 'body' in answer;
}

async function readable(response: OutboundResponse, maxBytes: number): Promise<OutboundResponse> {
  if (response.headers['content-encoding'] === undefined) return response;
  const isSuccess = response.status >= 200 && response.status < 300;
  try {
    return await decompress(response, maxBytes);
  } catch (error) {
    if (isSuccess) throw error;
    // The status is the result; its text is lost.
    return { ...response, body: Buffer.alloc(0) };
  }
}
