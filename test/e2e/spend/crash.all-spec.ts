import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formatUsd, parseUsd } from '../../../src/domain/spend/money.js';
import { Database } from '../../../src/persistence/database/database.js';
import { rebuildSpend } from '../../../src/upkeep/spend-rebuild.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { startServiceProcess } from '../../support/app/service-process.js';
import { untilNoneRuns } from '../../support/database/waiting-statements.js';
import { startStubUpstream } from '../../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../support/upstreams/stub-upstream.js';

let upstream: StubUpstream;
let app: TestApp;
let environment: Record<string, string>;
beforeAll(async () => {
  upstream = await startStubUpstream();
  environment = {
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${upstream.origin}/v1`,
    RATE_LIMIT_INFERENCE_PER_MINUTE: '0',
  };
  app = await createTestApp({ environment });
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

const BODY = JSON.stringify({
  model: 'openai/text-embedding-3-small',
  input: 'hello',
  encoding_format: 'base64',
});

/** Calls until the service is gone; returns the ids of complete responses. */
async function callUntilGone(
  baseUrl: string,
  secret: string,
  seen: string[],
  onAnswer: () => void,
): Promise<void> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  for (;;) {
    try {
      const answer = await fetch(`${baseUrl}/embeddings`, { method: 'POST', headers, body: BODY });
      const { id } = (await answer.json()) as { id: string };
      if (answer.status !== 200) throw new Error(`status ${answer.status}`);
      seen.push(id);
      onAnswer();
    } catch {
      return;
    }
  }
}

describe('a process that is killed under load', () => {
  it('loses no response that a client saw, and its counters equal the log, also after a rebuild', async () => {
    const seen: string[] = [];
    const { secret, record } = await app.createKey({ limit: parseUsd('100') });
    for (let round = 1; round <= 3; round++) {
      const service = await startServiceProcess({ ...environment, DATABASE_URL: app.databaseUrl });
      const enough = seen.length + 60 + round * 17;
      await new Promise<void>((resolve) => {
        const onAnswer = (): void => {
          if (seen.length === enough) void service.kill().then(resolve);
        };
        for (let client = 0; client < 16; client++)
          void callUntilGone(service.baseUrl, secret, seen, onAnswer);
      });
    }
    // A statement in flight when its client died is committed as a whole, or not at all, and maybe after its death.
    await untilNoneRuns(app);
    const recorded = await app.sql<{ id: string; cost: string }>(
      'SELECT id, cost FROM generations WHERE api_key_id = $1',
      [record.id],
    );
    const ids = new Set(recorded.map(({ id }) => `embd-${id.replaceAll('-', '')}`));
    expect(seen.filter((id) => !ids.has(id))).toEqual([]);
    const sum = recorded.reduce((total, { cost }) => total + parseUsd(cost), 0n);
    const spend = async () =>
      (
        await app.sql<{ total: string; daily: string }>(
          'SELECT total, daily FROM key_spend WHERE api_key_id = $1',
          [record.id],
        )
      )[0];
    const before = await spend();
    expect(parseUsd(before?.total ?? '')).toBe(sum);
    await rebuildSpend(app.application.get(Database));
    expect(await spend()).toEqual(before);
  });

  it('releases its reservations when its lease expires', async () => {
    const { secret, record } = await app.createKey({ limit: parseUsd('0.001') });
    const lease = async (expires: string) => {
      await app.sql(
        `INSERT INTO spend_leases (workspace_id, holder_id, holder, process_id, amount, expires_at)
         VALUES ($1, $2, 'key', gen_random_uuid(), $3, now() + $4::interval)`,
        [record.workspaceId, record.id, formatUsd(parseUsd('0.001')), expires],
      );
      await app.sql('UPDATE key_spend SET reserved = 0.001 WHERE api_key_id = $1', [record.id]);
    };
    await lease('-1 second');
    const answer = await app.http
      .post('/api/v1/embeddings')
      .set('authorization', `Bearer ${secret}`)
      .set('content-type', 'application/json')
      .send(BODY);
    expect(answer.status).toBe(200);
  });
});
