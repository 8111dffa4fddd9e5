// The one look at every request from its first header to the end of its answer: what is logged and counted of it is
// known only then, however it ended.
import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Tracing } from '../config/tracing.js';
import type { Caller } from '../domain/api-key.js';
import { errorCodeOf } from './error.filter.js';
import type { FinishedRequest } from './finished-request.js';
import { HttpMetrics } from './http-metrics.js';
import { RequestLog } from './request-log.js';
import { endRequestSpan } from './request-span.js';
import { requestIdOf } from './request-id.js';

type Middleware = (request: Request, response: Response, next: NextFunction) => void;

@Injectable()
export class RequestObserver {
  constructor(
    private readonly log: RequestLog,
    private readonly metrics: HttpMetrics,
    private readonly tracing: Tracing,
  ) {}

  /** The middleware that comes first. `findCaller` tells whom a request was let in as. */
  watch(findCaller: (request: object) => Caller | null): Middleware {
    return (request, response, next) => {
      const startedAt = performance.now();
      this.tracing.request(request.headers, (span) => {
        // The end of a whole answer as well as of a connection that was lost.
        response.once('close', () => {
          const finished = describe(request, response, {
            duration: performance.now() - startedAt,
            caller: findCaller(request),
            traceId: span?.spanContext().traceId ?? null,
          });
          this.metrics.finished(finished);
          this.log.finished(finished);
          if (span) endRequestSpan(span, finished);
        });
        next();
      });
    };
  }
}

function describe(
  request: Request,
  response: Response,
  { duration, caller, traceId }: Pick<FinishedRequest, 'duration' | 'caller' | 'traceId'>,
): FinishedRequest {
  const route = request.route as { readonly path?: unknown } | undefined;
  const length = response.getHeader('content-length');
  return {
    requestId: requestIdOf(request),
    method: request.method,
    route: typeof route?.path === 'string' ? route.path : null,
    status: response.headersSent ? response.statusCode : null,
    // What is lost with its connection also counts as written.
    isAborted: !response.writableFinished || request.socket.destroyed,
    duration,
    bytes: length === undefined ? null : Number(length),
    errorCode: errorCodeOf(request),
    caller,
    traceId,
  };
}
