// Requests that do not arrive in time, on a real socket.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { writeToSocket } from '../../../test/support/requests/raw-requests.js';
import { answerClientErrors } from './client-errors.js';
import { limitServer } from '../server/server-limits.js';

const server = createServer({ connectionsCheckingInterval: 10 });
afterEach(() => void server.close());

it('returns 408 after the request time-out, however quickly the headers arrive', async () => {
  limitServer(server, { connections: 10, operationDeadline: 10_000 });
  expect(server.headersTimeout).toBeLessThanOrEqual(server.requestTimeout);
  // In a hundredth of the time.
  server.requestTimeout /= 100;
  server.headersTimeout /= 100;
  answerClientErrors(server);
  server.on('request', (request) => request.resume());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = await writeToSocket(
    `http://127.0.0.1:${port}`,
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{',
  );
  expect(answer.status).toBe(408);
  expect(answer.body).toMatchObject({
    error: {
      code: 408,
      message: 'Operation timed out. Please try again later.: the request did not arrive in time',
    },
  });
});

it('closes a connection that stays open after that response', async () => {
  const stubborn = createServer();
  answerClientErrors(stubborn, 20);
  await once(stubborn.listen(0, '127.0.0.1'), 'listening');
  const { port } = stubborn.address() as AddressInfo;
  const accepted = once(stubborn, 'connection') as Promise<[Socket]>;
  // Never ends its side of the connection.
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).resume();
  client.on('error', () => undefined);
  const [socket] = await accepted;
  const isGone = once(socket, 'close');
  client.write('this is no HTTP\r\n\r\n');
  await isGone;
  client.destroy();
  stubborn.close();
});
