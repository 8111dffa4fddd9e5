// What a connection is told that does not speak HTTP well enough to become a request.
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../domain/errors.js';
import { errorBody } from './error.filter.js';

const DETAILS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'the headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'the request did not arrive in time',
};

export function answerClientErrors(server: Server): void {
  // An expectation that Node does not know would be answered by Node itself, with a 417 and no body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const detail = DETAILS[error.code ?? ''] ?? 'malformed HTTP';
    const body = JSON.stringify(errorBody(new AppError('invalid_request', { detail })));
    socket.end(
      'HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n' +
        `x-request-id: ${randomUUID()}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
}
