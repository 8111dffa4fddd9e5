// Requests to providers, whose addresses the operator configures: pooled connections to few origins.
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
    // Endpoint permits (ENDPOINT_CONCURRENCY) bound them and share them fairly. A queue here would be first come, first
    // served over all accounts, and would count against the time-out of a call.
    connections: null,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connect: (target, callback) =>
      connect(target, (...result) => {
        if (result[1]) boundReads(result[1]);
        callback(...result);
      }),
    // The signal of each call bounds it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  /** Resolves with an answer of any status. Follows no redirect. Throws OutboundTimeout or OutboundFailure. */
  send(request: OutboundRequest, limits: SendLimits): Promise<OutboundResponse> {
    return withinLimits(limits, (signal) => exchange(this.agent, request, limits.maxResponseBytes, signal));
  }

  /** Exchanges that are still in flight have outlasted SHUTDOWN_GRACE_MS: waiting for them would have no bound. */
  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }
}
