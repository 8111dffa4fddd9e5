// One line in the log for every request that is over. Nothing that a caller sent is in it but the request id: no path as
// it came, no query, no header, no body.
import { Injectable, Logger } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { isLogged } from '../../config/json-logger.js';
import type { FinishedRequest } from './finished-request.js';

/** What asks every few seconds, and would drown the rest. */
const PROBES: ReadonlySet<string | null> = new Set(['/health', '/ready', '/metrics']);

// Nest's names of the levels.
const METHODS = { debug: 'debug', info: 'log', warn: 'warn', error: 'error' } as const;

@Injectable()
export class RequestLog {
  private readonly logger = new Logger('Requests');

  constructor(private readonly config: AppConfig) {}

  finished(request: FinishedRequest): void {
    const level = levelOf(request);
    if (!isLogged(level, this.config.logLevel)) return;
    this.logger[METHODS[level]](describe(request), request.isAborted ? 'request aborted' : 'request');
  }
}

function levelOf({ method, route, status, isAborted, errorCode }: FinishedRequest): keyof typeof METHODS {
  // Refusing has to stay cheap where there is too much to do already; the metrics count them.
  if (PROBES.has(route) || method === 'OPTIONS' || errorCode === 'overloaded') return 'debug';
  if (status !== null && status >= 500) return 'error';
  return isAborted || status === null || status >= 400 ? 'warn' : 'info';
}

/** Members that are undefined are left out of the line. */
function describe(request: FinishedRequest): object {
  const { caller, duration, errorCode, bytes, traceId } = request;
  return {
    requestId: request.requestId,
    method: request.method,
    route: request.route,
    status: request.status,
    durationMs: Math.round(duration * 10) / 10,
    bytes: bytes ?? undefined,
    code: errorCode ?? undefined,
    traceId: traceId ?? undefined,
    accountId: caller?.key.accountId,
    workspaceId: caller?.key.workspaceId,
    keyHash: caller?.key.hash,
  };
}
