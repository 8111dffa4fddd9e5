// Requests to the providers, whose addresses are the operator's own: pooled connections to few origins.
import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Agent, buildConnector } from 'undici';
import { boundReads } from './bounded-reads.js';
import { exchange, withinLimits } from './exchange.js';
import type { OutboundRequest, OutboundResponse, SendLimits } from './exchange.js';

export { OutboundFailure, OutboundTimeout } from './exchange.js';

const connect = buildConnector({ timeout: 10_000 });

@Injectable()
export class HttpClient implements OnApplicationShutdown {
  private readonly agent = new Agent({
    // The places of endpoints bound them (ENDPOINT_CONCURRENCY), and share them fairly: a queue in here would be first come,
    // first served over all accounts, and count against the time-out of a call.
    connections: null,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connect: (target, callback) =>
      connect(target, (...result) => {
        if (result[1]) boundReads(result[1]);
        callback(...result);
      }),
    // The signal of each call bounds them.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  /** Resolves with any answer, whatever its status. Throws OutboundTimeout or OutboundFailure. Follows no redirect. */
  send(request: OutboundRequest, limits: SendLimits): Promise<OutboundResponse> {
    return withinLimits(limits, (signal) => exchange(this.agent, request, limits.maxResponseBytes, signal));
  }

  /** What is still under way has outlasted SHUTDOWN_GRACE_MS: to wait on would be without a bound. */
  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }
}
