// Chat models that a provider lists and the catalogue does not have (docs/contract.md#unlisted-models).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { GenerationDto } from '../../../src/generations/dto/generation.dto.js';
import type { ModelListDto } from '../../../src/models/dto/model-list.dto.js';
import type { TestKey } from '../../support/app/app.js';
import { priceRow, startOperatorApps } from '../../support/catalogue/operator-apps.js';
import type { OperatorApps } from '../../support/catalogue/operator-apps.js';
import { listAt } from '../../support/discovery/discovered.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { chatOf, postChat } from '../../support/upstreams/chat-upstream.js';

const HOUR = 3_600_000;
const RULE = { provider: 'openai', match: ['gpt-9*'], context_length: 100_000, max_output_tokens: 1_000 };
const CEILING = { ...RULE, prices: [priceRow(30, 180)] };

let apps: OperatorApps;
beforeAll(async () => {
  apps = await startOperatorApps({ PROVIDER_RETRIES: '0', TOGETHER_API_KEY: 'upstream-key' });
});
afterEach(async () => {
  apps.upstream.requests.length = 0;
  await ask(apps.app, 'delete', '/catalogue/models/unlisted/openai', { key: apps.operatorKey });
});
afterAll(() => apps.close());

const rule = (model: object, options: object = {}) =>
  apps.put('unlisted/openai', model, { kind: 'unlisted', ...options });
const limited = (limit: bigint): Promise<TestKey> => apps.app.createKey({ limit, limitReset: 'daily' });

interface Failed {
  readonly error: { readonly message: string };
}

async function call(model: string, body: object = {}, key = apps.app.apiKey) {
  const response = await postChat(apps.app, { model, max_tokens: 100, ...body }, { key });
  const answer = (await response.json()) as Failed & { readonly id: string; readonly model: string };
  return { status: response.status, message: answer.error?.message ?? null, ...answer };
}

describe('a chat model that a provider lists and the catalogue does not have', () => {
  beforeAll(() =>
    listAt(apps.app, 'openai', { 'gpt-9': {}, 'gpt-9-mini': {}, o9: {}, 'embed-9': { kind: 'embeddings' } }),
  );

  it('returns 404 with what to do without a rule, and other models stay as they are (G42)', async () => {
    const { status, message } = await call('openai/gpt-9');
    expect([status, message]).toEqual([
      404,
      expect.stringContaining(
        'openai offers openai/gpt-9, but it has no price here: the operator can add it to the catalogue; own provider keys can use it now',
      ),
    ]);
    expect(apps.upstream.requests).toEqual([]);
    expect((await call('openai/gpt-4o')).status).toBe(200);
  });

  it('is reserved and charged by the ceiling, with the source of the price in the record (G43)', async () => {
    expect((await rule(CEILING)).status).toBe(200);
    const key = await limited(1_000_000_000_000n);
    const answer = await call('openai/gpt-9', {}, key.secret);
    expect([answer.status, answer.model]).toEqual([200, 'openai/gpt-9']);
    expect(apps.upstream.requests[0]?.body['model']).toBe('gpt-9');
    // 10 tokens of 30 and 2 of 180 USD a million.
    const generation = await chatOf(apps.app, key.record.id);
    expect(generation.cost).toBe(660_000_000n);
    const { data } = await askFor<{ data: GenerationDto }>(
      200,
      apps.app,
      'get',
      `/generation?id=${answer.id}`,
      {
        key: key.secret,
      },
    );
    expect([data.price_source, data.price_effective_from]).toEqual(['ceiling', '2026-01-01']);
    const metrics = await apps.app.http.get('/metrics');
    expect(metrics.text).toContain('signalbox_ceiling_priced_usd_total{provider="openai"} 0.00066');
    // 1,000 tokens of 180 USD are more than 0.1 USD.
    const poor = await limited(100_000_000_000n);
    expect((await call('openai/gpt-9', { max_tokens: 1_000 }, poor.secret)).status).toBe(402);
  });

  it('is charged by the ceiling without a limit as well', async () => {
    await rule(CEILING);
    const key = await apps.app.createKey();
    expect((await call('openai/gpt-9-mini', {}, key.secret)).status).toBe(200);
    expect((await chatOf(apps.app, key.record.id)).cost).toBe(660_000_000n);
  });

  it('is the one that patterns of the rule match', async () => {
    await rule(CEILING);
    expect((await call('openai/o9')).status).toBe(404);
    await rule({ ...CEILING, match: ['gpt-9*', 'o*9'] });
    expect((await call('openai/o9')).status).toBe(200);
  });

  it('has no price before the first day of the ceiling, and none of a disabled rule', async () => {
    await rule({ ...CEILING, prices: [priceRow(30, 180, '2030-01-01')] });
    expect((await call('openai/gpt-9')).status).toBe(404);
    await rule({ ...CEILING, disabled: true });
    expect((await call('openai/gpt-9')).status).toBe(404);
    expect(apps.upstream.requests).toEqual([]);
  });

  it('returns 404 where no provider lists the name, whatever the ceiling matches (G45)', async () => {
    await rule({ ...CEILING, match: ['*'] });
    for (const name of ['openai/typo', 'org/typo', 'openai/gpt-9 ', 'openai/'])
      expect((await call(name)).message).toMatch(/there is no chat model|must/);
    expect(apps.upstream.requests).toEqual([]);
  });

  it('returns 404 for X:free where X is priced, and charges nothing (G46)', async () => {
    await rule({ ...CEILING, match: ['*'] });
    const { status, message } = await call('openai/gpt-4o:free');
    expect([status, message]).toEqual([
      404,
      expect.stringContaining('openai/gpt-4o:free is another model than openai/gpt-4o'),
    ]);
    expect(apps.upstream.requests).toEqual([]);
  });

  it('never gives another name to a model of the catalogue, of a disabled one as well', async () => {
    await listAt(apps.app, 'openai', { 'gpt-4o': {}, 'gpt-9': {} });
    await rule({ ...CEILING, match: ['*'] });
    const provider = { only: ['openai'] };
    expect((await call('other/gpt-4o', { provider })).status).toBe(404);
    expect((await apps.put('openai/gpt-4o', { disabled: true })).status).toBe(200);
    expect((await call('other/gpt-4o', { provider })).status).toBe(404);
    expect((await call('openai/gpt-4o', { provider })).message).toContain('is disabled by the operator');
    await ask(apps.app, 'delete', '/catalogue/models/openai/gpt-4o', { key: apps.operatorKey });
    expect(apps.upstream.requests).toEqual([]);
  });

  it('has any id with the provider beside it', async () => {
    await rule(CEILING);
    const provider = { only: ['openai'] };
    // One model has one id, whatever it is called by: guardrails and sums know it by that.
    expect(await call('acme/gpt-9', { provider })).toMatchObject({ status: 200, model: 'openai/gpt-9' });
    expect((await call('acme/gpt-9')).status).toBe(404);
    expect((await call('acme/gpt-9', { provider: { only: ['openai', 'mistral'] } })).status).toBe(404);
  });

  it('has the name of the host where that is an id', async () => {
    await listAt(apps.app, 'together', { 'moonshotai/Kimi-K9': { kind: 'chat' } });
    expect((await call('moonshotai/Kimi-K9')).message).toContain('together offers moonshotai/Kimi-K9');
  });

  it('is no embedding or rerank model: these must be listed', async () => {
    const key = apps.app.apiKey;
    const embedding = await ask(apps.app, 'post', '/embeddings', {
      key,
      body: { model: 'openai/embed-9', input: 'x' },
    });
    expect([embedding.status, JSON.stringify(embedding.body)]).toEqual([
      404,
      expect.stringContaining('embedding models must be listed, because their vectors are stored'),
    ]);
    const body = { model: 'openai/embed-9', query: 'x', documents: ['y'] };
    const rerank = await ask(apps.app, 'post', '/rerank', { key, body });
    expect([rerank.status, JSON.stringify(rerank.body)]).toEqual([
      404,
      expect.stringContaining('rerank models must be listed'),
    ]);
    expect((await call('openai/embed-9')).status).toBe(404);
    expect(apps.upstream.requests).toEqual([]);
  });

  it('is reached by own provider keys, whose cost is unknown and not 0', async () => {
    const other = await apps.app.createAccount();
    await askFor(201, apps.app, 'post', '/byok', {
      key: other.managementKey,
      body: { provider: 'openai', key: 'upstream-key' },
    });
    const answer = await call('openai/gpt-9', {}, other.apiKey);
    expect(answer.status).toBe(200);
    const generation = await chatOf(apps.app, other.key.id);
    expect([generation.isByok, generation.cost, generation.upstreamCost]).toEqual([true, 0n, null]);
    await rule(CEILING);
    expect((await call('openai/gpt-9', {}, other.apiKey)).status).toBe(200);
    const { data } = await askFor<{ data: GenerationDto }>(
      200,
      apps.app,
      'get',
      `/generation?id=${answer.id}`,
      {
        key: other.apiKey,
      },
    );
    expect([data.price_source, data.upstream_inference_cost]).toEqual([null, null]);
  });

  it('is shown to management keys alone, without a price', async () => {
    await rule(CEILING);
    const list = async (key: string | null, query = 'configured=false') => {
      const request = apps.app.http.get(`/api/v1/models?${query}`);
      if (key !== null) void request.set('authorization', `Bearer ${key}`);
      return ((await request).body as ModelListDto).data.filter(({ unlisted }) => unlisted);
    };
    const shown = await list(apps.app.managementKey);
    expect(shown.map(({ id }) => id)).toEqual(expect.arrayContaining(['openai/gpt-9', 'openai/o9']));
    expect(shown.map(({ id }) => id)).not.toContain('openai/embed-9');
    expect(shown.find(({ id }) => id === 'openai/gpt-9')?.pricing).toEqual({
      prompt: '-1',
      completion: '-1',
    });
    for (const key of [null, apps.app.apiKey, 'sk-or-v1-wrong']) expect(await list(key)).toEqual([]);
    expect(await list(apps.app.managementKey, 'configured=true')).toEqual([]);
  });

  it('stays callable for 24 hours after its provider has listed it for the last time (G47)', async () => {
    await listAt(apps.app, 'openai', { 'gpt-9': {} });
    await rule(CEILING);
    apps.app.clock.advance(23 * HOUR);
    expect((await call('openai/gpt-9')).status).toBe(200);
    apps.app.clock.advance(2 * HOUR);
    expect((await call('openai/gpt-9')).message).toContain('there is no chat model openai/gpt-9');
    expect((await call('openai/gpt-4o')).status).toBe(200);
  });
});

describe('a rule of unlisted models', () => {
  it.each([
    ['without a price', { ...RULE, prices: [] }, 'prices: must have at least one row'],
    ['at no price', { ...RULE, prices: [priceRow(0, 1)] }, 'must be above 0'],
    ['without patterns', { ...CEILING, match: [] }, 'match: must have 1 to 50 patterns'],
    ['with a pattern of other characters', { ...CEILING, match: ['gpt 9'] }, 'match[0]: must be a name'],
    ['of a provider without a list', { ...CEILING, provider: 'azure' }, 'provider: must be one of'],
    ['with an unknown member', { ...CEILING, upstream_model: 'x' }, 'upstream_model: is not known here'],
    [
      "without the prices that Claude's rows need",
      { ...CEILING, provider: 'anthropic' },
      'must have cache_read',
    ],
  ])('is refused %s', async (_name, model, message) => {
    const response = await rule(model);
    expect([response.status, JSON.stringify(response.body)]).toEqual([400, expect.stringContaining(message)]);
  });

  it('has an id of its own form, and is changed by operators alone', async () => {
    expect((await apps.put('openai/rule', CEILING, { kind: 'unlisted' })).status).toBe(400);
    expect((await rule(CEILING, { key: apps.app.managementKey })).status).toBe(403);
    await rule(CEILING);
    const { data } = await askFor<{ data: { kind: string; id: string }[] }>(
      200,
      apps.app,
      'get',
      '/catalogue/models?kind=unlisted',
    );
    expect(data).toEqual([expect.objectContaining({ kind: 'unlisted', id: 'unlisted/openai' })]);
  });
});
