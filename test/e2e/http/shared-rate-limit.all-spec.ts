import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { askFor } from '../../support/requests/admin.js';

// npm has no package of Redis: TEST_REDIS_URL names a server where there is one.
const redisUrl = process.env['TEST_REDIS_URL'];

const running: TestApp[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  for (const app of running.splice(0).toReversed()) await app.close();
});

interface System {
  readonly data: { readonly processes: { readonly shared_rate_limits: boolean } };
}

/** Returns what the rate limits logged since, by Nest's names of the levels. */
function watchLog(): () => unknown[] {
  const spies = (['log', 'warn'] as const).map((method) => ({
    method,
    spy: jest.spyOn(Logger.prototype, method),
  }));
  return () =>
    spies
      .flatMap(({ method, spy }) =>
        spy.mock.calls.map((call, index) => ({
          order: spy.mock.invocationCallOrder[index] ?? 0,
          line: [method, call.findLast((part) => typeof part === 'string')] as const,
          isOurs: Object(spy.mock.contexts[index]).context === 'RateLimits',
        })),
      )
      .filter(({ isOurs }) => isOurs)
      .toSorted((one, other) => one.order - other.order)
      .map(({ line }) => line);
}

async function startTwo(url: string): Promise<[TestApp, TestApp]> {
  const app = await createTestApp({
    environment: { REDIS_URL: url, RATE_LIMIT_MANAGEMENT_PER_MINUTE: '3' },
  });
  running.push(app);
  const replica = await app.startReplica();
  running.push(replica);
  return [app, replica];
}

async function statuses(apps: readonly TestApp[], { managementKey, key }: TestApp): Promise<number[]> {
  const seen: number[] = [];
  for (const app of apps) {
    const answer = await app.http
      .get(`/api/v1/keys/${key.hash}`)
      .set('authorization', `Bearer ${managementKey}`);
    seen.push(answer.status);
  }
  return seen;
}

describe('rate limits with Redis', () => {
  (redisUrl ? it : it.skip)('are shared by all replicas', async () => {
    const [app, replica] = await startTwo(redisUrl ?? '');
    expect(await statuses([app, replica, app, replica, app], app)).toEqual([200, 200, 200, 429, 429]);
  });

  it('are counted by each replica alone while Redis is unreachable', async () => {
    const [app, replica] = await startTwo('redis://127.0.0.1:1');
    expect(await statuses([app, app, app, app, replica], app)).toEqual([200, 200, 200, 429, 200]);
  });

  it('are counted by each replica alone while Redis hangs', async () => {
    const redis = await startFakeRedis({ answers: false });
    try {
      const [app, replica] = await startTwo(redis.url);
      await eventually(
        async () => redis.ready(),
        (ready) => ready >= 2,
      );
      expect(await statuses([app, app, app, app, replica], app)).toEqual([200, 200, 200, 429, 200]);
      expect(redis.scripts()).toBeGreaterThan(0);
    } finally {
      await redis.close();
    }
  });

  it('are reported as lost and as shared again, once each, in the log and by GET /system', async () => {
    const lines = watchLog();
    const isShared = async (app: TestApp): Promise<unknown> => {
      const { data } = await askFor<System>(200, app, 'get', '/system');
      return data.processes.shared_rate_limits;
    };
    let redis = await startFakeRedis();
    try {
      const app = await createTestApp({ environment: { REDIS_URL: redis.url } });
      running.push(app);
      await eventually(
        () => isShared(app),
        (shared) => shared === true,
      );
      await redis.close();
      await eventually(
        () => isShared(app),
        (shared) => shared === false,
      );
      // Calls without Redis add no line.
      for (let call = 0; call < 5; call++) expect(await isShared(app)).toBe(false);
      redis = await startFakeRedis({ port: Number(new URL(redis.url).port) });
      await eventually(
        () => isShared(app),
        (shared) => shared === true,
      );
      expect(lines()).toEqual([
        ['log', 'rate limits are shared through Redis'],
        ['warn', 'lost Redis; this process counts rate limits for itself and will retry'],
        ['log', 'Redis answers again; rate limits are shared'],
      ]);
    } finally {
      await redis.close();
    }
  });

  it('are reported as not shared when Redis cannot be reached at the start', async () => {
    const lines = watchLog();
    const app = await createTestApp({ environment: { REDIS_URL: 'redis://:secret@127.0.0.1:1' } });
    running.push(app);
    await eventually(
      async () => lines().length,
      (count) => count > 0,
    );
    const { data } = await askFor<System>(200, app, 'get', '/system');
    expect(data.processes.shared_rate_limits).toBe(false);
    expect(lines()).toEqual([
      ['warn', 'failed to reach Redis; this process counts rate limits for itself and will retry'],
    ]);
  });
});

interface FakeRedis {
  readonly url: string;
  /** Reports to the client that it is ready. */
  readonly ready: () => number;
  /** Scripts that it got. */
  readonly scripts: () => number;
  close(): Promise<void>;
}

/** Accepts connections, reports that it is ready, and grants all tokens, or answers no script. */
async function startFakeRedis({ answers = true, port = 0 } = {}): Promise<FakeRedis> {
  const sockets = new Set<Socket>();
  let ready = 0;
  let scripts = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      for (const command of data.toString('latin1').split(/^(?=\*\d)/m)) {
        if (/eval/i.test(command)) {
          scripts++;
          if (answers) socket.write(':0\r\n');
        } else if (/info\r\n$/i.test(command)) {
          const info = 'redis_version:7.4.0\r\nloading:0';
          socket.write(`$${info.length}\r\n${info}\r\n`, () => ready++);
        } else socket.write('+OK\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready: () => ready,
    scripts: () => scripts,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
