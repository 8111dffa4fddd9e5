import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/persistence/database.js';
import { rebuildSpend } from '../../src/persistence/spend-rebuild.js';
import { createTestApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { startStubUpstream } from '../support/stub-upstream.js';
import type { StubUpstream } from '../support/stub-upstream.js';

let upstream: StubUpstream;
let app: TestApp;
beforeAll(async () => {
  upstream = await startStubUpstream();
  app = await createTestApp({
    environment: { OPENAI_API_KEY: 'upstream-key', OPENAI_BASE_URL: `${upstream.origin}/v1` },
  });
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

const TABLES = ['key_spend', 'workspace_spend', 'account_spend'] as const;

async function counters(): Promise<unknown> {
  const rows = await Promise.all(TABLES.map((table) => app.sql(`SELECT * FROM ${table} ORDER BY 1, 2`)));
  return rows;
}

describe('rebuilding the counters from the log', () => {
  it('gives what settling has summed up call by call, over days, weeks and months', async () => {
    const other = await app.createAccount();
    const moments = [
      '2026-09-30T23:59:59.999Z',
      '2026-10-01T00:00:00.000Z',
      '2026-11-15T12:00:00.000Z',
      '2026-11-16T00:00:00.000Z',
      '2026-11-18T12:00:00.000Z',
    ];
    for (const moment of moments) {
      app.clock.set(moment);
      const answers = await Promise.all(
        [app.apiKey, app.apiKey, other.apiKey].map((secret) =>
          app.http
            .post('/api/v1/embeddings')
            .set('authorization', `Bearer ${secret}`)
            .send({ model: 'openai/text-embedding-3-small', input: ['one', 'two'] }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    }
    const settled = await counters();
    for (const table of TABLES) {
      await app.sql(
        `UPDATE ${table} SET total = 99, daily = 1, weekly = 2, monthly = 3, last_day = '2020-01-01'`,
      );
    }
    await rebuildSpend(app.application.get(Database));
    expect(await counters()).toEqual(settled);
    const [{ total } = { total: '' }] = await app.sql<{ total: string }>(
      'SELECT total FROM key_spend WHERE api_key_id = $1',
      [app.key.id],
    );
    // 5 moments, 2 calls, 10 tokens each at 0.02 USD a million.
    expect(Number(total)).toBe(100 * 2e-8);
  });
});
