// Requests to providers, whose addresses the operator configures: pooled connections to few origins.
import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Dispatcher } from 'undici';
import type { OutboundProxies } from '../config/environment-reader.js';
import { decompress } from './decompress.js';
import { withoutEchoedSecrets } from './echoed-secrets.js';
import { exchange, withinLimits } from './exchange.js';
import type { OutboundRequest, OutboundResponse, SendLimits } from './exchange.js';
import { createProviderAgent } from './provider-agent.js';

export { OutboundFailure, OutboundTimeout } from './exchange.js';

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
    const { maxResponseBytes } = limits;
    const response = await withinLimits(limits, (signal) =>
      exchange(this.agent, request, maxResponseBytes, signal),
    );
    return withoutEchoedSecrets(await readable(response, maxResponseBytes), request);
  }

  /** Exchanges that are still in flight have outlasted SHUTDOWN_GRACE_MS: waiting for them would have no bound. */
  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }
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
