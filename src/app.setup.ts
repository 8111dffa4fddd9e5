// Everything that the application needs besides its modules, in production and in tests alike.
import 'reflect-metadata';
import type { Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { findAccountId, findCaller, findPayer, findPerson } from './auth/caller.js';
import { RateLimiter } from './auth/rate-limiter.js';
import { AppConfig } from './config/app-config.js';
import { serveConsole } from './console/pages.js';
import { LoadShedder } from './http/load-shedding/load-shedder.js';
import { shedPublicRequests } from './http/load-shedding/load-shedding.guard.js';
import { FailedRequests } from './http/errors/failed-requests.js';
import { answerClientErrors, requireHost } from './http/errors/client-errors.js';
import { shareAddresses } from './http/server/client-address.js';
import { compareEntityTags } from './http/server/conditional-get.js';
import { corsOptions } from './http/server/cors.js';
import { assignRequestId, requestIdOf } from './http/errors/request-id.js';
import { acceptPathAliases } from './http/server/path-aliases.js';
import { RequestObserver } from './http/observe/request-observer.js';
import { limitServer } from './http/server/server-limits.js';
import { SlowTransfers } from './http/server/slow-transfers.js';
import { RefusalReporter } from './refusals/refusal-reporter.js';
import { OPENAPI_PATHS, serveOpenApi } from './runtime/openapi.js';
import type { NextFunction, Request, RequestHandler, Response } from 'express';

const CONSOLE_DIRECTORY = fileURLToPath(new URL('../console/dist', import.meta.url));

export function setUpApplication(
  application: NestExpressApplication,
  consoleDirectory = CONSOLE_DIRECTORY,
): void {
  const config = application.get(AppConfig);
  const { publicPath } = config;
  if (publicPath !== '') application.use(acceptPublicPath(publicPath));
  application.use(acceptPathAliases);
  application.disable('x-powered-by');
  application.disable('etag');
  compareEntityTags(application);
  application.use(assignRequestId, application.get(RequestObserver).watch(findCaller, findPerson));
  const {
    console: hasConsole,
    corsAllowedOrigins: origins,
    loadShedding,
    operationDeadline,
    trustedProxies,
  } = config;
  shareAddresses(application, trustedProxies);
  if (origins.length > 0) application.enableCors(corsOptions(origins));
  application.get(LoadShedder).findAccountsBy(findAccountId);
  recordRefusals(application.get(FailedRequests), application.get(RefusalReporter));
  application.use(requireHost);
  const limits = [
    limitPublicRequests(application.get(RateLimiter)),
    shedPublicRequests(application.get(LoadShedder)),
  ];
  application.use(OPENAPI_PATHS, ...limits);
  application.use(serveConsole({ directory: hasConsole ? consoleDirectory : null, publicPath, limits }));
  serveOpenApi(application, publicPath);
  const server: Server = application.getHttpServer();
  limitServer(server, { connections: loadShedding.connections, operationDeadline });
  answerClientErrors(server);
  application.get(SlowTransfers).watch(server);
}

function recordRefusals(failed: FailedRequests, reporter: RefusalReporter): void {
  failed.listen((request, error) => {
    const key = findPayer(request)?.key;
    if (key) reporter.note({ key, method: request.method, requestId: requestIdOf(request), error });
  });
}

/** For paths without a controller, which no guard sees. Counts toward the requests that an address may make without a credential. */
function limitPublicRequests(rateLimiter: RateLimiter): RequestHandler {
  // Express hands a rejection to the error filter.
  return async (request: Request, _response: Response, next: NextFunction) => {
    await rateLimiter.consumePublic(request.ip ?? '');
    next();
  };
}

/**
 * A reverse proxy that serves this service below PUBLIC_PATH may keep the path or strip it. Routes see paths without it, and
 * `originalUrl` is the one that the client sent.
 */
function acceptPublicPath(publicPath: string): RequestHandler {
  return (request: Request, _response: Response, next: NextFunction) => {
    const rest = request.url.slice(publicPath.length);
    const isKept = request.url.startsWith(publicPath) && /^(?:[/?]|$)/.test(rest);
    if (isKept) request.url = rest.startsWith('/') ? rest : `/${rest}`;
    else request.originalUrl = publicPath + request.url;
    next();
  };
}
