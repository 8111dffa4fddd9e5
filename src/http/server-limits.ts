// What bounds connections before there is a request: how many there may be, and how long one may keep its place with
// bytes that do not come or are not taken.
import type { Server } from 'node:http';
import type { AppConfig } from '../config/app-config.js';

export function limitServer(server: Server, { admission, operationDeadline }: AppConfig): void {
  server.maxConnections = admission.connections;
  // A request that arrives byte by byte holds a place for as long as a call may take, and no longer.
  server.requestTimeout = operationDeadline;
  // Without a byte in either direction: longer than any answer is waited for.
  server.timeout = 2 * operationDeadline;
}
