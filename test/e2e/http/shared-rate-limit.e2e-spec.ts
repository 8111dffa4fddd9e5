import { afterEach, describe, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app.js';
import type { TestApp } from '../../support/app.js';

// npm brings no Redis along: TEST_REDIS_URL names one where there is one.
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

  it('are counted by each replica for itself while Redis is away', async () => {
    const [app, replica] = await startTwo('redis://127.0.0.1:1');
    expect(await statuses([app, app, app, app, replica], app)).toEqual([200, 200, 200, 429, 200]);
  });
});
