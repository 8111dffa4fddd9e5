// Observes every request from its first header to the end of its response, and reports it then, however it ended.
import { Injectable } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import type { NextFunction, Request, Response } from 'express';
import { Tracing } from '../../config/tracing/tracing.js';
import type { Caller } from '../../domain/keys/api-key.js';
import type { Person } from '../../domain/people/person.js';
import { TickBatch } from '../../concurrency/tick-batch.js';
import { errorCodeOf } from '../errors/error.filter.js';
import type { FinishedRequest } from './request-log.js';
import { HttpMetrics } from './http-metrics.js';
import { RequestLog } from './request-log.js';
import { requestIdOf } from '../errors/request-id.js';

type Middleware = (request: Request, response: Response, next: NextFunction) => void;

/** A finished request. */
interface Ended extends Pick<FinishedRequest, 'address' | 'isAborted' | 'duration'> {
  readonly request: Request;
  readonly response: Response;
  readonly span: Span | null;
}

@Injectable()
export class RequestObserver {
  constructor(
    private readonly log: RequestLog,
    private readonly metrics: HttpMetrics,
    private readonly tracing: Tracing,
  ) {}

  /**
   * The first middleware: it starts the next one for all requests of a turn together. `findCaller` and
   * `findPerson` return who is authenticated.
   */
  watch(
    findCaller: (request: object) => Caller | null,
    findPerson: (request: object) => Person | null,
  ): Middleware {
    const beginning = new TickBatch<() => void>((begin) => begin());
    const ending = new TickBatch<Ended>((ended) => {
      const caller = findCaller(ended.request);
      this.notify(ended, caller, caller ? null : findPerson(ended.request));
    });
    return (request, response, next) => {
      const startedAt = performance.now();
      let span: Span | null = null;
      // A closed socket no longer knows it.
      const address = request.ip ?? '';
      // Emitted after a complete response and after a lost connection.
      response.once('close', () => {
        const duration = performance.now() - startedAt;
        // Bytes that are lost with their connection also count as written.
        const isAborted = !response.writableFinished || request.socket.destroyed;
        ending.add({ request, response, span, address, isAborted, duration });
      });
      beginning.add(() => {
        // The caller disconnected in the turn of its request.
        if (request.socket.destroyed) return;
        this.tracing.request(request.headers, (begun) => {
          span = begun;
          next();
        });
      });
    };
  }

  private notify(ended: Ended, caller: Caller | null, person: Person | null): void {
    const { span } = ended;
    const finished = describe(ended, caller, person);
    this.metrics.finished(finished);
    this.log.finished(finished);
    if (span) endRequestSpan(span, finished);
  }
}

function describe(
  { request, response, span, address, isAborted, duration }: Ended,
  caller: Caller | null,
  person: Person | null,
): FinishedRequest {
  const route = request.route as { readonly path?: unknown } | undefined;
  const length = response.getHeader('content-length');
  return {
    requestId: requestIdOf(request),
    address,
    method: request.method,
    route: typeof route?.path === 'string' ? route.path : null,
    status: response.headersSent ? response.statusCode : null,
    isAborted,
    duration,
    bytes: length === undefined ? null : Number(length),
    errorCode: errorCodeOf(request),
    caller,
    person,
    traceId: span?.spanContext().traceId ?? null,
  };
}

// SpanStatusCode.ERROR, without loading the library for it.
const ERROR = 2;

/** The attributes have the names of OpenTelemetry's semantic conventions. */
function endRequestSpan(span: Span, request: FinishedRequest): void {
  const { method, route, status, errorCode, caller, person, isAborted } = request;
  span.updateName(route === null ? method : `${method} ${route}`);
  span.setAttributes({
    'http.request.method': method,
    'signalbox.request_id': request.requestId,
    ...(route === null ? {} : { 'http.route': route }),
    ...(status === null ? {} : { 'http.response.status_code': status }),
    ...(errorCode === null ? {} : { 'error.type': errorCode }),
    ...(isAborted ? { 'signalbox.aborted': true } : {}),
    ...(caller && {
      'signalbox.account_id': caller.key.accountId,
      'signalbox.workspace_id': caller.key.workspaceId,
      'signalbox.key_hash': caller.key.hash,
    }),
    ...(person && { 'signalbox.account_id': person.accountId, 'signalbox.user_id': person.id }),
  });
  if (status !== null && status >= 500) span.setStatus({ code: ERROR });
  span.end();
}
