// Responds to connections whose bytes do not form an HTTP request.
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { NextFunction, Request, Response } from 'express';
import { AppError } from '../../domain/errors.js';
import { errorBody } from './error-forms.js';

// Milliseconds for the caller to read the response; then its connection is destroyed.
const TIME_TO_LEAVE = 1_000;

const DETAILS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'the headers are too large',
};

// Below the API, where no page of the console is.
const UNKNOWN_PATH = '/api/unknown';

/** RFC 9112, section 3.2. As a middleware, because Node's own rejection has neither a body nor an id. */
export function requireHost(
  { httpVersion, headers }: Request,
  _response: Response,
  next: NextFunction,
): void {
  const isMissing = httpVersion === '1.1' && headers.host === undefined;
  next(isMissing ? new AppError('invalid_request', { detail: 'the Host header is missing' }) : undefined);
}

export function answerClientErrors(server: Server, timeToLeave = TIME_TO_LEAVE): void {
  server.prependListener('request', (request) => {
    request.url = pathOf(request.url ?? '');
  });
  // Node itself would answer an unknown expectation, with a 417 and no body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const appError = toAppError(error);
    const body = JSON.stringify(errorBody(appError));
    socket.end(
      `HTTP/1.1 ${appError.status} ${STATUS_CODES[appError.status]}\r\n` +
        'Content-Type: application/json; charset=utf-8\r\n' +
        `x-request-id: ${randomUUID()}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
    // The end of the connection and of its requests must not depend on the caller: its requests would keep their
    // permits.
    const timer = setTimeout(() => socket.destroy(), timeToLeave).unref();
    socket.once('close', () => clearTimeout(timer));
  });
}

function toAppError({ code = '' }: NodeJS.ErrnoException): AppError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new AppError('operation_timeout', { detail: 'the request did not arrive in time' });
  return new AppError('invalid_request', { detail: DETAILS[code] ?? 'malformed HTTP' });
}

/**
 * RFC 9112, section 3.2.2: the target of a request may be a whole URL. A broken one is routed to an unknown path:
 * Node's old parser, which Express uses, would print it in a warning.
 */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target;
  if (!URL.canParse(target)) return UNKNOWN_PATH;
  const { pathname, search } = new URL(target);
  return pathname.startsWith('/') ? pathname + search : UNKNOWN_PATH;
}
