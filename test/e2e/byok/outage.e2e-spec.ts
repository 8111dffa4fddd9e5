// POST /embeddings through own keys at two failing providers: which endpoint takes over, who pays, which keys rest.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { parseUsd, parseUsdPerMillion } from '../../../src/domain/spend/money.js';
import type { TestKey } from '../../support/app/app.js';
import { answerOf, embed, SMALL } from '../../support/requests/create-embedding.js';
import { eventually } from '../../support/eventually.js';
import { createCredential, SHARED_KEY, startWithKeys } from '../../support/requests/provider-credential.js';
import type { ByokSetup } from '../../support/requests/provider-credential.js';

const AT_OPENAI = 'own-key-at-openai';
const AT_AZURE = 'own-key-at-azure';
const BODY = { model: SMALL, input: 'hello', dimensions: 2 };
// The upstream reports 5 tokens for every input.
const COST = parseUsdPerMillion('0.02') * 5n;

let setup: ByokSetup;
beforeAll(async () => {
  setup = await startWithKeys({ PROVIDER_RETRIES: '0' });
});
beforeEach(async () => {
  for (const key of [AT_OPENAI, AT_AZURE, SHARED_KEY]) setup.answerKeyWith(key, 200);
  await setup.app.sql('DELETE FROM provider_credentials');
  await askUntil(SHARED_KEY);
});
afterAll(() => setup.close());

/** The response, and the keys that the upstream received. */
async function ask(secret = setup.app.apiKey): Promise<{ response: Response; keys: string[] }> {
  setup.takeKeys();
  const response = await embed(setup.app, BODY, secret).set('x-openrouter-metadata', 'enabled');
  return { response, keys: setup.takeKeys() };
}

async function askUntil(...expected: readonly string[]): Promise<Response> {
  const { response } = await eventually(ask, ({ keys }) => keys.join() === expected.join());
  return response;
}

async function createBoth(options: { readonly isRequired?: boolean } = {}): Promise<void> {
  await createCredential(setup.app, { apiKey: AT_AZURE, provider: 'azure', sortOrder: 2 });
  await createCredential(setup.app, { apiKey: AT_OPENAI, sortOrder: 1, ...options });
  await askUntil(AT_OPENAI);
}

async function countersOf({ record }: TestKey): Promise<unknown> {
  const [row] = await setup.app.sql<{ total: string; byok_total: string }>(
    'SELECT total, byok_total FROM key_spend WHERE api_key_id = $1',
    [record.id],
  );
  return { usage: parseUsd(row?.total ?? ''), byok: parseUsd(row?.byok_total ?? '') };
}

async function lastRecordOf({ record }: TestKey): Promise<unknown> {
  const [row] = await setup.app.sql(
    `SELECT provider, is_byok, cost::float8, upstream_cost::float8 AS upstream FROM generations
     WHERE api_key_id = $1 ORDER BY log_transaction DESC, log_ordinal DESC LIMIT 1`,
    [record.id],
  );
  return row;
}

const USD = Number(COST) / 1e12;

describe('own keys at two providers', () => {
  it('are tried in order, then the shared endpoint; only the endpoint that served is billed', async () => {
    await createBoth();
    const key = await setup.app.createKey();

    const first = await ask(key.secret);
    expect(first.keys).toEqual([AT_OPENAI]);
    expect(answerOf(first.response)).toMatchObject({ provider: 'OpenAI', usage: { is_byok: true, cost: 0 } });
    expect(first.response.body).toMatchObject({ openrouter_metadata: { strategy: 'direct', is_byok: true } });
    expect(await countersOf(key)).toEqual({ usage: 0n, byok: COST });

    setup.answerKeyWith(AT_OPENAI, 503);
    const second = await ask(key.secret);
    expect(second.keys).toEqual([AT_OPENAI, AT_AZURE]);
    expect(answerOf(second.response)).toMatchObject({
      provider: 'Azure OpenAI',
      usage: { is_byok: true, cost: 0 },
    });
    expect(second.response.body).toMatchObject({
      openrouter_metadata: { strategy: 'fallback', is_byok: true, attempt: 2 },
    });
    expect(await lastRecordOf(key)).toEqual({ provider: 'azure', is_byok: true, cost: 0, upstream: USD });
    expect(await countersOf(key)).toEqual({ usage: 0n, byok: COST * 2n });

    setup.answerKeyWith(AT_AZURE, 401);
    const third = await ask(key.secret);
    expect(third.keys).toEqual([AT_OPENAI, AT_AZURE, SHARED_KEY]);
    expect(answerOf(third.response)).toMatchObject({
      provider: 'OpenAI',
      usage: { is_byok: false, cost: USD },
    });
    expect(third.response.body).toMatchObject({
      openrouter_metadata: { strategy: 'fallback', is_byok: false, attempt: 3 },
    });
    expect(await lastRecordOf(key)).toEqual({ provider: 'openai', is_byok: false, cost: USD, upstream: USD });
    expect(await countersOf(key)).toEqual({ usage: COST, byok: COST * 2n });
  });

  it('are skipped while their circuits are open and another endpoint works', async () => {
    await createBoth();
    setup.answerKeyWith(AT_OPENAI, 503);
    for (let call = 0; call < 5; call++) expect((await ask()).keys).toEqual([AT_OPENAI, AT_AZURE]);
    await askUntil(AT_AZURE);
    setup.answerKeyWith(AT_AZURE, 500);
    // The circuit of the first stays open: only the second is tried, until it opens too.
    expect(answerOf(await askUntil(SHARED_KEY)).usage).toMatchObject({ is_byok: false, cost: USD });
    setup.answerKeyWith(SHARED_KEY, 500);
    // Endpoints whose circuit is open come after the working ones.
    expect((await ask()).keys.slice(-3).toSorted()).toEqual([AT_AZURE, AT_OPENAI, SHARED_KEY].toSorted());
  });

  it('are tried before all other endpoints when they are required, open or not', async () => {
    await createCredential(setup.app, { apiKey: AT_OPENAI, isRequired: true });
    await askUntil(AT_OPENAI);
    setup.answerKeyWith(AT_OPENAI, 503);
    for (let call = 0; call < 8; call++) {
      const { response, keys } = await ask();
      expect(keys).toEqual([AT_OPENAI]);
      expect(response.status).toBe(529);
    }
  });
});
