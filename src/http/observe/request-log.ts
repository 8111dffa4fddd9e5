// One log line for every finished request. Of the caller's data it contains the request id and, after a failure,
// the address: no raw path, no query, no header, no body.
import { Injectable, Logger } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { isLogged } from '../../config/service-logger.js';
import type { ErrorCode } from '../../domain/errors.js';
import type { Caller } from '../../domain/keys/api-key.js';
import type { Person } from '../../domain/people/person.js';

/** The facts of a finished request. */
export interface FinishedRequest {
  readonly requestId: string;
  /** The caller's address, behind trusted proxies as well; empty: the connection was lost at once. */
  readonly address: string;
  readonly method: string;
  /** The route's pattern in the code; null if no route matched. */
  readonly route: string | null;
  /** Null: the caller disconnected before there was a response. */
  readonly status: number | null;
  /** The caller disconnected before it had the whole response. */
  readonly isAborted: boolean;
  /** Milliseconds. */
  readonly duration: number;
  /** The size of the response body; null if the length is not known in advance. */
  readonly bytes: number | null;
  readonly errorCode: ErrorCode | null;
  readonly caller: Caller | null;
  /** A person by the console; null: a key, or none. */
  readonly person: Person | null;
  /** The trace of the span that this service sends for the request. */
  readonly traceId: string | null;
}

/** Polled every few seconds; their lines would drown the others. */
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
  // Load shedding must stay cheap; the metrics count these requests.
  if (PROBES.has(route) || method === 'OPTIONS' || errorCode === 'overloaded') return 'debug';
  if (status !== null && status >= 500) return 'error';
  return isFailure({ isAborted, status }) ? 'warn' : 'info';
}

function isFailure({ isAborted, status }: Pick<FinishedRequest, 'isAborted' | 'status'>): boolean {
  return isAborted || status === null || status >= 400;
}

/** Undefined members are left out of the line. */
function describe(request: FinishedRequest): object {
  const { caller, person, duration, errorCode, bytes, traceId } = request;
  return {
    requestId: request.requestId,
    // Enough to find guessers and broken clients.
    address: isFailure(request) ? request.address : undefined,
    method: request.method,
    route: request.route,
    status: request.status,
    durationMs: Math.round(duration * 10) / 10,
    bytes: bytes ?? undefined,
    code: errorCode ?? undefined,
    traceId: traceId ?? undefined,
    accountId: caller?.key.accountId ?? person?.accountId,
    workspaceId: caller?.key.workspaceId,
    keyHash: caller?.key.hash,
    userId: person?.id,
  };
}
