// The cost of own provider keys: the BYOK counters, the record of the key, and the limit that may include them.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base';
import { parseUsd, parseUsdPerMillion } from '../../../src/domain/spend/money.js';
import type { TestApp, TestKey } from '../../support/app/app.js';
import { embed, SMALL } from '../../support/requests/create-embedding.js';
import { eventually } from '../../support/eventually.js';
import { getKey } from '../../support/requests/get-key.js';
import { createCredential, SHARED_KEY, startWithKeys } from '../../support/requests/provider-credential.js';
import type { ByokSetup } from '../../support/requests/provider-credential.js';

// The upstream reports 5 tokens for every input, and this text has 5.
const TEXT = 'one two three four five';
const COST_OF_AN_INPUT = parseUsdPerMillion('0.02') * 5n;
const BODY = { model: SMALL, input: TEXT, dimensions: 2, encoding_format: 'base64' };
const OWN = 'own-key-that-is-billed';

let setup: ByokSetup;
let replica: TestApp;
beforeAll(async () => {
  expect(countTokens(TEXT)).toBe(5);
  setup = await startWithKeys();
  replica = await setup.app.startReplica();
});
beforeEach(async () => {
  for (const key of [OWN, SHARED_KEY]) setup.answerKeyWith(key, 200);
  await setup.app.sql('DELETE FROM provider_credentials');
});
afterAll(async () => {
  await replica.close();
  await setup.close();
});

async function useOwnKey(options: { readonly isByokOnly?: boolean } = {}): Promise<void> {
  await expectOnBoth(SHARED_KEY);
  await createCredential(setup.app, { apiKey: OWN, ...options });
  await expectOnBoth(OWN);
}

/** A committed change of credentials reaches the replicas a moment later. */
async function expectOnBoth(key: string): Promise<void> {
  const { secret } = await setup.app.createKey();
  for (const app of [setup.app, replica]) {
    await eventually(
      async () => {
        setup.takeKeys();
        await embed(app, BODY, secret);
        return setup.takeKeys().join();
      },
      (keys) => keys === key,
    );
  }
}

async function countersOf({ record }: TestKey): Promise<{ usage: bigint; byok: bigint; reserved: bigint }> {
  const [row] = await setup.app.sql<{ total: string; byok_total: string; reserved: string }>(
    'SELECT total, byok_total, reserved FROM key_spend WHERE api_key_id = $1',
    [record.id],
  );
  if (!row) throw new Error('no counter');
  return { usage: parseUsd(row.total), byok: parseUsd(row.byok_total), reserved: parseUsd(row.reserved) };
}

async function statusesOf(calls: number, secret: string): Promise<number[]> {
  const answers = await Promise.all(
    Array.from({ length: calls }, (_value, index) =>
      embed(index % 2 === 0 ? setup.app : replica, BODY, secret),
    ),
  );
  return answers.map(({ status }) => status);
}

describe('the BYOK counters', () => {
  it('grow by the bill of the provider, and GET /keys/{hash} shows them', async () => {
    await useOwnKey();
    const key = await setup.app.createKey({ limit: parseUsd('1') });
    for (let call = 0; call < 3; call++) expect((await embed(setup.app, BODY, key.secret)).status).toBe(200);
    expect(await countersOf(key)).toMatchObject({ usage: 0n, byok: COST_OF_AN_INPUT * 3n });
    const response = await getKey(setup.app, key.record.hash);
    expect(response.body).toMatchObject({
      data: {
        usage: 0,
        usage_daily: 0,
        byok_usage: 3e-7,
        byok_usage_daily: 3e-7,
        byok_usage_weekly: 3e-7,
        byok_usage_monthly: 3e-7,
        limit_remaining: 1,
      },
    });
    const sums = await setup.app.sql(
      `SELECT bool_and(byok_total >= $1) AS grows FROM
       (SELECT byok_total FROM workspace_spend WHERE workspace_id = $2
        UNION ALL SELECT byok_total FROM account_spend WHERE account_id = $3) AS counters`,
      ['0.0000003', setup.app.workspaceId, setup.app.accountId],
    );
    expect(sums).toEqual([{ grows: true }]);
  });

  it('grow by the part of a call that own keys served, and the others by the rest', async () => {
    await useOwnKey();
    setup.answerKeyWith(OWN, (inputs) => (inputs === 1 ? 429 : 200));
    const key = await setup.app.createKey({ limit: parseUsd('1'), includeByokInLimit: true });
    const input = Array.from({ length: 2048 * 2 + 1 }, () => TEXT);
    const response = await embed(setup.app, { ...BODY, input }, key.secret);
    expect({ status: response.status, usage: usageOf(response.body) }).toEqual({
      status: 200,
      usage: { prompt_tokens: 4097 * 5, total_tokens: 4097 * 5, cost: 1e-7, is_byok: true },
    });
    expect(await countersOf(key)).toMatchObject({ usage: COST_OF_AN_INPUT, byok: COST_OF_AN_INPUT * 4096n });
  });

  it('grow by the billed part of a failed call, and by nothing else', async () => {
    await useOwnKey();
    setup.answerKeyWith(OWN, (inputs) => (inputs === 1 ? 429 : 200));
    setup.answerKeyWith(SHARED_KEY, 400);
    const key = await setup.app.createKey();
    const input = Array.from({ length: 2048 * 2 + 1 }, () => TEXT);
    expect((await embed(setup.app, { ...BODY, input }, key.secret)).status).toBe(400);
    const [row] = await setup.app.sql<{ cost: string; upstream: string }>(
      'SELECT cost, CASE WHEN is_byok THEN upstream_cost ELSE 0 END AS upstream FROM generations WHERE api_key_id = $1',
      [key.record.id],
    );
    const { usage, byok } = await countersOf(key);
    expect(usage).toBe(0n);
    expect(byok).toBe(parseUsd(row?.upstream ?? ''));
    expect(byok % (COST_OF_AN_INPUT * 2048n)).toBe(0n);
  });

  it('stay unchanged when the provider rejects the own key', async () => {
    await useOwnKey();
    setup.answerKeyWith(OWN, 401);
    const key = await setup.app.createKey();
    expect((await embed(setup.app, BODY, key.secret)).status).toBe(200);
    expect(await countersOf(key)).toMatchObject({ usage: COST_OF_AN_INPUT, byok: 0n });
  });
});

describe('a limit worth k calls', () => {
  it('admits exactly k of 200 parallel calls on two replicas with include_byok_in_limit', async () => {
    await useOwnKey();
    const key = await setup.app.createKey({ limit: COST_OF_AN_INPUT * 23n, includeByokInLimit: true });
    const statuses = await statusesOf(200, key.secret);
    // 503: the money stayed reserved for as long as a call waits for it.
    expect([200, 402, 503]).toEqual(expect.arrayContaining([...new Set(statuses)]));
    await eventually(
      async () => {
        const { status } = await embed(setup.app, BODY, key.secret);
        statuses.push(status);
        return status;
      },
      (status) => status === 402,
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(23);
    expect(await countersOf(key)).toMatchObject({ usage: 0n, byok: COST_OF_AN_INPUT * 23n });
  });

  it('ignores own keys without include_byok_in_limit', async () => {
    await useOwnKey({ isByokOnly: true });
    const key = await setup.app.createKey({ limit: COST_OF_AN_INPUT * 3n });
    expect(await statusesOf(20, key.secret)).toEqual(Array<number>(20).fill(200));
    expect(await countersOf(key)).toEqual({ usage: 0n, byok: COST_OF_AN_INPUT * 20n, reserved: 0n });
  });

  it('admits own keys at once while in-flight calls have reserved it', async () => {
    await useOwnKey();
    const key = await setup.app.createKey({ limit: parseUsd('1') });
    await setup.app.sql('UPDATE key_spend SET reserved = 1 WHERE api_key_id = $1', [key.record.id]);
    const begunAt = performance.now();
    const response = await embed(setup.app, BODY, key.secret);
    expect({ status: response.status, usage: usageOf(response.body) }).toMatchObject({
      status: 200,
      usage: { cost: 0, is_byok: true },
    });
    // As long as a call without an alternative waits.
    expect(performance.now() - begunAt).toBeLessThan(10_000);
    expect(await countersOf(key)).toMatchObject({ usage: 0n, byok: COST_OF_AN_INPUT });
  });

  it('admits own keys and no shared endpoint once it is used up', async () => {
    await useOwnKey();
    const key = await setup.app.createKey({ limit: 0n });
    expect((await embed(setup.app, BODY, key.secret)).status).toBe(200);
    setup.answerKeyWith(OWN, 401);
    setup.takeKeys();
    expect((await embed(setup.app, BODY, key.secret)).status).toBe(502);
    expect(setup.takeKeys()).toEqual([OWN]);
    expect(await countersOf(key)).toMatchObject({ usage: 0n, byok: COST_OF_AN_INPUT });
  });
});

function usageOf(body: unknown): unknown {
  return (body as { usage: unknown }).usage;
}
