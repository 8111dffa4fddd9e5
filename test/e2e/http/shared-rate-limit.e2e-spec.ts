import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';

// npm has no package of Redis: TEST_REDIS_URL names a server where there is one.
const redisUrl = process.env['TEST_REDIS_URL'];

const running: TestApp[] = [];
afterEach(async () => {
  for (const app of running.splice(0).toReversed()) await app.close();
});

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
    const redis = await startHangingRedis();
    try {
      const [app, replica] = await startTwo(redis.url);
      await eventually(
        async () => redis.ready(),
        (ready) => ready === 2,
      );
      expect(await statuses([app, app, app, app, replica], app)).toEqual([200, 200, 200, 429, 200]);
      expect(redis.unanswered()).toBeGreaterThan(0);
    } finally {
      redis.close();
    }
  });
});

/** Accepts connections, reports that it is ready, and answers no other command. */
async function startHangingRedis() {
  const sockets = new Set<Socket>();
  let ready = 0;
  let unanswered = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      for (const command of data.toString('latin1').split(/^(?=\*\d)/m)) {
        if (/eval/i.test(command)) unanswered++;
        else if (/info\r\n$/i.test(command)) {
          const info = 'redis_version:7.4.0\r\nloading:0';
          socket.write(`$${info.length}\r\n${info}\r\n`, () => ready++);
        } else socket.write('+OK\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready: () => ready,
    unanswered: () => unanswered,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
