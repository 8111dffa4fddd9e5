// Answers that never reach their body, or that are mostly framing: both clients stop reading and keep nothing.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createCertificate } from '../../../test/support/upstreams/certificate.js';
import { TestClock } from '../../../test/support/app/clock.js';
import { ScriptedResolver } from '../../../test/support/app/name-resolver.js';
import type { AppConfig } from '../../config/app-config.js';
import { ConnectionPool } from '../connections/connection-pool.js';
import { DestinationClient } from '../destination-client.js';
import { exchange, withinLimits } from './exchange.js';
import type { OutboundRequest, OutboundResponse } from './exchange.js';
import { guardedConnector } from '../connections/guarded-connector.js';
import { HttpClient } from '../http-client.js';
import { UrlGuard } from '../connections/url-guard.js';

const LOOPBACK = '127.0.0.1';
// Generous: a failure must come from the bound, not from the time-out.
const LIMITS = { timeout: 60_000, maxResponseBytes: 100_000, accountId: 'account' };
// The bound on the wire is 265,536 bytes; system buffers hold some more.
const MOST_SENT = 20_000_000;

const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const FLOODS: readonly (readonly [string, string, string])[] = [
  ['103 Early Hints', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n'],
  ['102 Processing', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ['a status line', 'HTTP/1.1 400 ', 'No '],
  ['headers', 'HTTP/1.1 400 Bad Request\r\n', 'x-filler: 0123456789abcdef\r\n'],
  ['empty lines', '', '\r\n'],
];

let server: Server;
let sent: number;
const sockets = new Set<Socket>();

/** Sends `once`, then `repeated` without end, as fast as it is read; then 200 on each further connection. */
function flood(once: string, repeated: string) {
  const piece = Buffer.from(repeated.repeat(Math.ceil(8_192 / repeated.length)));
  let isFirst = true;
  return (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      if (!isFirst) {
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone');
        return;
      }
      isFirst = false;
      socket.write(once);
      const send = (): void => {
        while (!socket.destroyed && socket.write(piece)) sent += piece.length;
        sent += piece.length;
      };
      socket.on('drain', send);
      send();
    });
  };
}

async function listen(made: Server): Promise<number> {
  server = made;
  await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
  return (server.address() as AddressInfo).port;
}

const get = (url: string): OutboundRequest => ({ method: 'GET', url, headers: {} });
const guardOf = (resolver = new ScriptedResolver()): UrlGuard =>
  new UrlGuard(
    { destinationAllowedCidrs: [`${LOOPBACK}/32`] } as unknown as AppConfig,
    resolver,
    new TestClock(),
  );

beforeEach(() => {
  sent = 0;
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await new Promise((resolve) => server.close(resolve));
});

describe.each([
  ['destinations', () => new DestinationClient(guardOf())],
  ['providers', () => new HttpClient()],
] as const)('the client of %s', (_name, create) => {
  it.each(FLOODS)('abandons an answer of nothing but %s', async (_what, once, repeated) => {
    const port = await listen(createTcpServer(flood(once, repeated)));
    const client = create();
    await expect(client.send(get(`http://${LOOPBACK}:${port}/`), LIMITS)).rejects.toThrow(
      /larger than 265536 bytes|Headers Overflow|bad response|UND_ERR|HPE_|Parse Error|HTTP\/1.1 protocol/,
    );
    expect(sent).toBeLessThan(MOST_SENT);
    expect((await client.send(get(`http://${LOOPBACK}:${port}/`), LIMITS)).body.toString()).toBe('done');
    await client.onApplicationShutdown();
  });

  it.each([
    ['extensions of a chunk', `${HEAD}5;`, 'a=b;'],
    ['trailers', `${HEAD}5\r\nhello\r\n0\r\n`, 'x-filler: 0123456789abcdef\r\n'],
    ['chunks of one byte', HEAD, '1\r\nx\r\n'],
  ])('stops reading an answer with endless %s', async (_what, once, repeated) => {
    const port = await listen(createTcpServer(flood(once, repeated)));
    const client = create();
    const answer = await client
      .send(get(`http://${LOOPBACK}:${port}/`), LIMITS)
      .catch((error: unknown) => error);
    // A success that may be cut: its status is the result of the traces.
    if (client instanceof DestinationClient && !(answer instanceof Error))
      expect((answer as OutboundResponse).status).toBe(200);
    else expect(answer).toBeInstanceOf(Error);
    expect(sent).toBeLessThan(MOST_SENT);
    await client.onApplicationShutdown();
  });

  it('counts each exchange of a connection separately, and accepts informational responses', async () => {
    const body = 'x'.repeat(90_000);
    const port = await listen(
      createTcpServer((socket) => {
        sockets.add(socket);
        socket.on('data', () =>
          socket.write(
            `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
          ),
        );
      }),
    );
    const client = create();
    for (let count = 0; count < 5; count++) {
      const response = await client.send(get(`http://${LOOPBACK}:${port}/`), LIMITS);
      expect([response.status, response.body.length]).toEqual([200, body.length]);
    }
    // Several exchanges on one connection, with more than the bound of one.
    expect(sockets.size).toBeLessThan(3);
    await client.onApplicationShutdown();
  });
});

it('bounds TLS connections as well', async () => {
  const certificate = createCertificate('host.example');
  const port = await listen(
    createTlsServer(certificate, flood('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n')),
  );
  const guard = guardOf(new ScriptedResolver().script('host.example', [LOOPBACK]));
  const pool = new ConnectionPool(guardedConnector(guard, { ca: certificate.cert }));
  const origin = `https://host.example:${port}`;
  const asked = withinLimits(LIMITS, (signal) =>
    pool.use(origin, signal, (connection) => exchange(connection, get(`${origin}/`), 100_000, signal)),
  );
  await expect(asked).rejects.toThrow('larger than 265536 bytes');
  expect(sent).toBeLessThan(MOST_SENT);
  await pool.close();
});
