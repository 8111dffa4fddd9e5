// What bounds connections before there is a request: how many there may be, and how long one may keep its place with
// bytes that do not come or are not taken.
import type { Server } from 'node:http';

// Milliseconds. However short calls may take, a process that is late must not cut off who was quick.
const SLACK = 10_000;
// Milliseconds. Longer than the idle time of common load balancers, so that they never write to a closing connection.
const KEEP_ALIVE_TIMEOUT = 65_000;

export interface ServerLimits {
  readonly connections: number;
  /** Milliseconds. */
  readonly operationDeadline: number;
}

export function limitServer(server: Server, { connections, operationDeadline }: ServerLimits): void {
  server.maxConnections = connections;
  // A request that arrives byte by byte holds a place for about as long as a call may take, and no longer.
  server.requestTimeout = Math.max(operationDeadline, SLACK);
  // Were it longer, Node would take it for the bound of the whole request.
  server.headersTimeout = server.requestTimeout;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT;
  // Without a byte in either direction: longer than any answer is waited for.
  server.timeout = 2 * operationDeadline + SLACK;
}
