// One line in the log for every request that is over. Nothing that a caller sent is in it but the request id: no path as
// it came, no query, no header, no body.
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { isLogged } from '../config/json-logger.js';
import { Cohort } from '../domain/cohort.js';
import type { FinishedRequest } from './finished-request.js';

/** What asks every few seconds, and would drown the rest. */
const PROBES: ReadonlySet<string | null> = new Set(['/health', '/ready', '/metrics']);

// Milliseconds for which lines are gathered: written in one go, each takes half as long.
const GATHERING_TIME = 10;

// Nest's names of the levels.
const METHODS = { debug: 'debug', info: 'log', warn: 'warn', error: 'error' } as const;

@Injectable()
export class RequestLog implements OnApplicationShutdown {
  private readonly logger = new Logger('Requests');
  private readonly lines = new Cohort<FinishedRequest>(
    (request) => this.write(request),
    (run) => setTimeout(run, GATHERING_TIME),
  );

  /** The process may end before anything that is gathered from now on is written. */
  private isEnding = false;

  constructor(private readonly config: AppConfig) {}

  finished(request: FinishedRequest): void {
    if (!isLogged(levelOf(request), this.config.logLevel)) return;
    this.lines.add(request);
    if (this.isEnding) this.lines.run();
  }

  onApplicationShutdown(): void {
    this.isEnding = true;
    this.lines.run();
  }

  private write(request: FinishedRequest): void {
    const message = request.isAborted ? 'request aborted' : 'request';
    this.logger[METHODS[levelOf(request)]](describe(request), message);
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
