// Bounds of connections before there is a request: their number, and the time without progress.
import type { Server } from 'node:http';

// Milliseconds. Even with short deadlines, a process that is late must not close the connections of quick callers.
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
  // A request that arrives byte by byte holds a connection for about as long as a call may take.
  server.requestTimeout = Math.max(operationDeadline, SLACK);
  // A longer one would become Node's bound of the whole request.
  server.headersTimeout = server.requestTimeout;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT;
  // Without a byte in either direction: longer than any response takes.
  server.timeout = 2 * operationDeadline + SLACK;
}
