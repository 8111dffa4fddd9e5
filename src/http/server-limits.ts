// What bounds connections before there is a request: how many there may be, and how long one may keep its place with
// bytes that do not come or are not taken.
import type { Server } from 'node:http';
import type { AppConfig } from '../config/app-config.js';

// Milliseconds. However short calls may take, a process that is late must not cut off who was quick.
const SLACK = 10_000;

export function limitServer(server: Server, { admission, operationDeadline }: AppConfig): void {
  server.maxConnections = admission.connections;
  // A request that arrives byte by byte holds a place for about as long as a call may take, and no longer.
  server.requestTimeout = Math.max(operationDeadline, SLACK);
  // Without a byte in either direction: longer than any answer is waited for.
  server.timeout = 2 * operationDeadline + SLACK;
}
