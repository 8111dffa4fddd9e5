// Requests to destinations, whose addresses are anybody's: every connection passes the URL guard.
import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { ConnectionPool } from './connection-pool.js';
import { exchange, OutboundRefused, withinLimits } from './exchange.js';
import type { OutboundRequest, OutboundResponse, SendLimits } from './exchange.js';
import { guardedConnector } from './guarded-connector.js';
import { UrlGuard } from './url-guard.js';

// Platforms answer deliveries with little, and some repeat the request. Of more than this only the beginning is read.
const MAX_RESPONSE_BYTES = 1024 * 1024;

type DestinationLimits = Omit<SendLimits, 'maxResponseBytes'> & Partial<Pick<SendLimits, 'maxResponseBytes'>>;

@Injectable()
export class DestinationClient implements OnApplicationShutdown {
  private readonly connections: ConnectionPool;

  constructor(private readonly guard: UrlGuard) {
    this.connections = new ConnectionPool(guardedConnector(guard));
  }

  /**
   * Resolves with any answer, whatever its status; follows no redirect. The body of a success ends where it is larger
   * than allowed: what was taken must not be sent again for what was said about it. The time-out begins now: waiting for a
   * connection and looking the name up are part of it. Throws OutboundTimeout, OutboundRefused or OutboundFailure.
   */
  async send(request: OutboundRequest, limits: DestinationLimits): Promise<OutboundResponse> {
    const url = this.guard.read(request.url);
    if (typeof url === 'string') throw new OutboundRefused(url);
    const { maxResponseBytes = MAX_RESPONSE_BYTES } = limits;
    return withinLimits(limits, (signal) =>
      this.connections.use(url.origin, signal, (connection) =>
        exchange(connection, request, maxResponseBytes, signal, 'is_cut'),
      ),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connections.close();
  }
}
