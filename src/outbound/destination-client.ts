// Requests to destinations, whose addresses any customer chooses: every connection passes the URL guard.
import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Permit } from '../concurrency/semaphore.js';
import { ConnectionPool } from './connections/connection-pool.js';
import {
  allowListeners,
  exchange,
  OutboundFailure,
  OutboundRejected,
  withinLimits,
} from './exchange/exchange.js';
import type { OutboundRequest, OutboundResponse, SendLimits } from './exchange/exchange.js';
import { guardedConnector } from './connections/guarded-connector.js';
import { tunnelConnector } from './connections/tunnel-connector.js';
import { UrlGuard } from './connections/url-guard.js';

// Platforms answer deliveries with few bytes, and some repeat the request. Beyond this bound the answer is cut or
// fails.
const MAX_RESPONSE_BYTES = 1024 * 1024;

interface DestinationLimits extends Omit<SendLimits, 'maxResponseBytes'> {
  readonly maxResponseBytes?: number;
  /** Accounts share the connections fairly. */
  readonly accountId: string;
}

@Injectable()
export class DestinationClient implements OnApplicationShutdown {
  private readonly connections: ConnectionPool;

  constructor(
    private readonly guard: UrlGuard,
    proxyUrl?: string,
  ) {
    const connect = proxyUrl === undefined ? guardedConnector(guard) : tunnelConnector(guard, proxyUrl);
    this.connections = new ConnectionPool(connect);
  }

  /**
   * Resolves with an answer of any status; follows no redirect. The body of a success is cut at the bound, because
   * accepted traces must not be sent again. The time-out starts with the permit for a connection, so that waiting for
   * other exchanges is not a failure of the platform; it includes the name look-up. Throws OutboundTimeout,
   * OutboundRejected or OutboundFailure.
   */
  async send(request: OutboundRequest, limits: DestinationLimits): Promise<OutboundResponse> {
    const url = this.guard.read(request.url);
    if (typeof url === 'string') throw new OutboundRejected(url);
    const { maxResponseBytes = MAX_RESPONSE_BYTES } = limits;
    const permit = await this.acquire(url.origin, limits);
    try {
      return await withinLimits(limits, (signal) =>
        this.connections.use(
          url.origin,
          signal,
          (connection) => exchange(connection, request, maxResponseBytes, signal, { excess: 'is_cut' }),
          limits.accountId,
        ),
      );
    } finally {
      permit.release();
    }
  }

  private async acquire(origin: string, { accountId, signal }: DestinationLimits): Promise<Permit> {
    if (signal) allowListeners(signal);
    try {
      return await this.connections.acquire(origin, accountId, signal);
    } catch (error) {
      throw new OutboundFailure('cancelled while waiting for a connection', { cause: error });
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connections.close();
  }
}
