// Everything that the application needs besides its modules, in production and in tests alike.
import 'reflect-metadata';
import type { Server } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { answerClientErrors } from './http/client-errors.js';
import { assignRequestId } from './http/request-id.js';
import { serveOpenApi } from './openapi.js';

// Milliseconds. Longer than the idle time of common load balancers, so that they never write to a closing connection.
const KEEP_ALIVE_TIMEOUT = 65_000;

export function setUpApplication(application: NestExpressApplication): void {
  application.disable('x-powered-by');
  application.disable('etag');
  application.use(assignRequestId);
  serveOpenApi(application);
  const server: Server = application.getHttpServer();
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT;
  server.headersTimeout = KEEP_ALIVE_TIMEOUT + 1_000;
  answerClientErrors(server);
}
