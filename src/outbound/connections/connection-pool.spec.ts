// The bounds over all connections, and the order of waiting exchanges.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import { connect as connectTcp } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { eventually } from '../../../test/support/eventually.js';
import { ConnectionPool } from './connection-pool.js';
import type { Connect } from './guarded-connector.js';

const never = (): AbortSignal => new AbortController().signal;

let server: Server;
let port: number;
const open = new Set<Socket>();
let opened = 0;
const pending: ServerResponse[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/wait') pending.push(response);
    else response.writeHead(200, request.url === '/last' ? { connection: 'close' } : {}).end('done');
  });
  server.keepAliveTimeout = 0;
  server.on('connection', (socket) => {
    opened++;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
beforeEach(() => {
  server.closeAllConnections();
  opened = 0;
  pending.length = 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Connects every name to the server. */
const toServer: Connect = (_target, callback) => {
  const socket = connectTcp(port, '127.0.0.1');
  socket.once('connect', () => callback(null, socket));
  return socket;
};
const pools: ConnectionPool[] = [];
function poolWith(connections: number, connectionsPerOrigin: number, connect = toServer): ConnectionPool {
  const pool = new ConnectionPool(connect, { connections, connectionsPerOrigin });
  pools.push(pool);
  return pool;
}
afterEach(async () => {
  for (const response of pending) response.end();
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

async function ask(
  pool: ConnectionPool,
  name: string,
  path = '/',
  signal = never(),
  account = name,
): Promise<string> {
  const origin = `http://${name}.example`;
  const permit = await pool.acquire(origin, account, signal);
  try {
    return await pool.use(origin, signal, async (dispatcher) => {
      const { body } = await dispatcher.request({ origin, path, method: 'GET', signal });
      return body.text();
    });
  } finally {
    permit.release();
  }
}
const askAs = (account: string, pool: ConnectionPool, name: string, path = '/') =>
  ask(pool, name, path, never(), account);
const waitingRequests = (count: number) =>
  eventually(
    () => Promise.resolve(pending.length),
    (length) => length === count,
  );

describe('keeping', () => {
  it('reuses a connection for consecutive exchanges; each origin has its own', async () => {
    const pool = poolWith(10, 10);
    for (const name of ['a', 'a', 'b', 'a', 'b']) expect(await ask(pool, name)).toBe('done');
    expect([opened, pool.size]).toEqual([2, 2]);
  });

  it('opens a connection for each concurrent exchange', async () => {
    const pool = poolWith(10, 10);
    await Promise.all(['a', 'a', 'a'].map((name) => ask(pool, name)));
    expect([opened, pool.size]).toEqual([3, 3]);
  });

  it('forgets a connection that the other side closes', async () => {
    const pool = poolWith(10, 10);
    await ask(pool, 'a');
    await ask(pool, 'b', '/last');
    for (const socket of open) socket.end();
    await eventually(
      () => Promise.resolve(pool.size),
      (size) => size === 0,
    );
    expect(await ask(pool, 'a')).toBe('done');
  });

  it('drops the connection of a failed exchange', async () => {
    const pool = poolWith(10, 10);
    const failed = pool.use('http://a.example', never(), () => Promise.reject(new Error('failed')));
    await expect(failed).rejects.toThrow('failed');
    expect(pool.size).toBe(0);
  });

  it('leaves no socket behind when an exchange is cancelled while it connects', async () => {
    const sockets: Socket[] = [];
    const nowhere: Connect = () => {
      // Never connects: the look-up does not end.
      const socket = connectTcp({ host: 'nowhere.example', port: 9, lookup: () => undefined });
      sockets.push(socket);
      return socket;
    };
    const pool = poolWith(10, 10, nowhere);
    const controller = new AbortController();
    const asked = ask(pool, 'a', '/', controller.signal);
    controller.abort(new Error('given up'));
    await expect(asked).rejects.toThrow('given up');
    expect(pool.size).toBe(0);
    expect(sockets.filter((socket) => !socket.destroyed)).toEqual([]);
  });
});

describe('bounds', () => {
  it('shares the connections between many origins: the one idle longest is closed', async () => {
    const pool = poolWith(3, 3);
    for (const name of ['a', 'b', 'c', 'a', 'd', 'a']) expect(await ask(pool, name)).toBe('done');
    expect([opened, pool.size]).toEqual([4, 3]);
    // b was idle longest when d arrived.
    await ask(pool, 'c');
    expect(opened).toBe(4);
    await ask(pool, 'b');
    expect(opened).toBe(5);
    await eventually(
      () => Promise.resolve(open.size),
      (size) => size === 3,
    );
  });

  it('never holds more connections than allowed for 200 exchanges with 50 origins', async () => {
    const pool = poolWith(5, 2);
    const sizes: number[] = [];
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_value, index) => {
        const answer = await ask(pool, `origin-${index % 50}`);
        sizes.push(pool.size);
        return answer;
      }),
    );
    expect(answers).toEqual(Array(200).fill('done'));
    expect(Math.max(...sizes)).toBe(5);
  });

  it('lets an origin at its bound wait without holding up others', async () => {
    const pool = poolWith(4, 2);
    const slow = ['a', 'a', 'a'].map((name) => ask(pool, name, '/wait'));
    await waitingRequests(2);
    expect(await ask(pool, 'b')).toBe('done');
    expect([pending.length, pool.size]).toEqual([2, 3]);
    pending[0]!.end('first');
    expect(await slow[0]).toBe('first');
    await waitingRequests(3);
    for (const response of pending) response.end('later');
    expect(await Promise.all(slow)).toEqual(['first', 'later', 'later']);
  });

  it('serves waiting exchanges in order', async () => {
    const pool = poolWith(1, 1);
    const served: string[] = [];
    const inOrder = (names: readonly string[]) =>
      Promise.all(
        names.map(async (name, index) => {
          await ask(pool, name);
          served.push(`${name}${index}`);
        }),
      );
    await inOrder(['a', 'b', 'c', 'd']);
    await inOrder(['a', 'a', 'a']);
    expect(served).toEqual(['a0', 'b1', 'c2', 'd3', 'a0', 'a1', 'a2']);
  });

  it('does not serve an exchange that stopped waiting', async () => {
    const pool = poolWith(1, 1);
    const first = ask(pool, 'a', '/wait');
    await waitingRequests(1);
    const controller = new AbortController();
    const second = ask(pool, 'a', '/', controller.signal);
    const third = ask(pool, 'a');
    controller.abort(new Error('given up'));
    await expect(second).rejects.toThrow('given up');
    pending[0]!.end('first');
    expect(await Promise.all([first, third])).toEqual(['first', 'done']);
    expect(opened).toBe(1);
  });
});

describe('accounts', () => {
  it('one that has taken all connections delays another by the end of one exchange, not by its queue', async () => {
    const pool = poolWith(2, 2);
    const served: string[] = [];
    const slow = [1, 2].map(() => askAs('busy', pool, 'a', '/wait'));
    await waitingRequests(2);
    const queue = Array.from({ length: 20 }, () => askAs('busy', pool, 'a').then(() => served.push('busy')));
    const other = askAs('other', pool, 'a').then(() => served.push('other'));
    pending[0]!.end('first');
    await other;
    expect(served).toEqual(['other']);
    pending[1]!.end('second');
    await Promise.all([...slow, ...queue]);
  });

  it('reserves a part of the connections, in total and per origin, for accounts without one', async () => {
    const pool = poolWith(8, 4);
    const slow = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'c'].map((name) => askAs('busy', pool, name, '/wait'));
    await waitingRequests(6);
    expect(await askAs('other', pool, 'a')).toBe('done');
    expect(await askAs('third', pool, 'd')).toBe('done');
    expect(pending).toHaveLength(6);
    for (const response of pending) response.end('later');
    await waitingRequests(8);
    for (const response of pending) response.end('later');
    expect(await Promise.all(slow)).toEqual(Array(8).fill('later'));
  });
});
