// The attributes of a request's span, in the names of OpenTelemetry's semantic conventions.
import type { Span } from '@opentelemetry/api';
import type { FinishedRequest } from './finished-request.js';

// SpanStatusCode.ERROR, without loading the library for it.
const ERROR = 2;

export function endRequestSpan(span: Span, request: FinishedRequest): void {
  const { method, route, status, errorCode, caller, isAborted } = request;
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
  });
  if (status !== null && status >= 500) span.setStatus({ code: ERROR });
  span.end();
}
