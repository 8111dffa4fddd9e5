// Unread responses and stalled bodies, on real sockets, with a clock that the test controls.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import type { Metrics } from '../../config/metrics.js';
import { GRACE, LEAST_RATE, SlowTransfers, TransferPace } from './slow-transfers.js';

// More than the kernel buffers for a reader that does not read.
const LARGE = Buffer.alloc(64 * 2 ** 20);
const CHECK_INTERVAL = 1_000;

let transfers: SlowTransfers;
let now: number;
let server: Server;
const clients: Socket[] = [];
beforeEach(() => {
  server = createServer((_request, response) => response.end(LARGE));
  transfers = new SlowTransfers({ registry: new Registry() } as Metrics);
});
afterEach(() => {
  transfers.onModuleDestroy();
  for (const client of clients.splice(0)) client.destroy();
  server.closeAllConnections();
  server.close();
});

function look(times: number): void {
  for (let time = 0; time < times; time++) transfers.look((now += CHECK_INTERVAL));
}

/** Then stops again. */
function readSome(client: Socket, bytes: number): Promise<void> {
  let read = 0;
  return new Promise((resolve) => {
    client.on('data', function count(chunk: Buffer) {
      read += chunk.length;
      if (read < bytes) return;
      client.off('data', count).pause();
      resolve();
    });
    client.resume();
  });
}

describe('a response', () => {
  async function ask(): Promise<[Socket, Socket]> {
    transfers.watch(server);
    now = performance.now();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined);
    clients.push(client);
    client.pause();
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [socket] = await accepted;
    while (socket.writableLength === 0) await new Promise((resolve) => setImmediate(resolve));
    return [client, socket];
  }

  it('ends with its connection when it is not read', async () => {
    const [, socket] = await ask();
    look(10);
    expect(socket.destroyed).toBe(false);
    look(2);
    expect(socket.destroyed).toBe(true);
  });

  it('ends by the bound of its own reader, and reports it', async () => {
    const [, socket] = await ask();
    let givenUp = 0;
    transfers.boundReader(socket, { grace: 30_000, giveUp: () => givenUp++ });
    look(30);
    expect([socket.destroyed, givenUp]).toEqual([false, 0]);
    look(2);
    expect([socket.destroyed, givenUp]).toEqual([true, 1]);
  });

  it('ends when its reader takes a few bytes now and then', async () => {
    const [client, socket] = await ask();
    transfers.boundReader(socket, { grace: 30_000, giveUp: () => undefined });
    for (let round = 0; round < 12 && !socket.destroyed; round++) {
      client.read(100);
      look(5);
    }
    expect(socket.destroyed).toBe(true);
  });

  it('continues while it is read, though it is one write', async () => {
    const [client, socket] = await ask();
    for (let round = 0; round < 4; round++) {
      look(6);
      // Enough that the connection has room for more.
      await readSome(client, 8 * 2 ** 20);
    }
    expect(socket.writableLength).toBeGreaterThan(0);
    expect(socket.destroyed).toBe(false);
  });
});

describe('a body', () => {
  beforeEach(() => {
    now = 0;
    transfers.look(now);
  });

  it('is abandoned once when it stalls', () => {
    let givenUp = 0;
    transfers.watchUpload(
      () => 30,
      () => givenUp++,
    );
    look(10);
    expect(givenUp).toBe(0);
    look(20);
    expect(givenUp).toBe(1);
  });

  it('is not abandoned while it arrives or after it has arrived', () => {
    let received = 0;
    const giveUp = (): void => {
      throw new Error('given up');
    };
    transfers.watchUpload(() => (received += 100_000), giveUp);
    const end = transfers.watchUpload(() => 30, giveUp);
    look(5);
    end();
    look(20);
    expect(received).toBeGreaterThan(2_000_000);
  });

  it('is not abandoned when a check is late', () => {
    let givenUp = 0;
    transfers.watchUpload(
      () => 30,
      () => givenUp++,
    );
    transfers.look((now += 60_000));
    expect(givenUp).toBe(0);
  });
});

const isEnded = (bytesPerSecond: (second: number) => number, seconds = 600): boolean => {
  const pace = new TransferPace(0);
  let moved = 0;
  for (let second = 1; second <= seconds; second++) {
    moved += bytesPerSecond(second);
    if (pace.isTooSlow(moved, second * 1_000)) return true;
  }
  return false;
};
const RATE = LEAST_RATE * 1_000;

it.each([
  [true, 'nothing moves', () => 0],
  [true, 'one byte a second', () => 1],
  [true, 'a little below the least rate', () => RATE * 0.9],
  [true, 'much at first and nothing then', (second: number) => (second < 5 ? 1e9 : 0)],
  [false, 'the least rate', () => RATE],
  [false, 'ten seconds of nothing, again and again', (second: number) => (second % 10 === 0 ? RATE * 10 : 0)],
] as const)('a transfer is too slow (%s): %s', (expected, _name, rate) => {
  expect(isEnded(rate)).toBe(expected);
});

it('ends no transfer within the grace', () => {
  expect(isEnded(() => 0, GRACE / 1_000)).toBe(false);
});
