// Changes of the stored catalogue (docs/contract.md#catalogue).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CatalogueChangesDto, CatalogueModelDto } from '../../../src/models/dto/catalogue-model.dto.js';
import { chatModel, priceRow, startOperatorApps } from '../../support/catalogue/operator-apps.js';
import type { OperatorApps } from '../../support/catalogue/operator-apps.js';
import { deferred } from '../../support/deferred.js';
import { eventually } from '../../support/eventually.js';
import { ask, askFor } from '../../support/requests/admin.js';
import {
  beginStream,
  chatOf,
  postChat,
  sendEvent,
  streamChat,
  text,
} from '../../support/upstreams/chat-upstream.js';
import { delta, usageOnly } from '../../support/upstreams/chat-upstream.js';

let apps: OperatorApps;
beforeAll(async () => {
  apps = await startOperatorApps();
});
afterAll(() => apps.close());

// Milliseconds within which every replica knows a change (docs/contract.md#catalogue).
const BOUND = 2_000;

async function modelOf(id: string): Promise<CatalogueModelDto> {
  const { data } = await askFor<{ data: CatalogueModelDto }>(
    200,
    apps.app,
    'get',
    `/catalogue/models/${id}`,
    {
      key: apps.operatorKey,
    },
  );
  return data;
}

async function statusOnReplica(model: string): Promise<number> {
  const response = await postChat(apps.replica, { model });
  await response.text();
  return response.status;
}

const costOf = async (key: { readonly record: { readonly id: string } }): Promise<bigint | null> =>
  (await chatOf(apps.app, key.record.id)).cost;

it('serves a new model on another replica within 2 s, at its price (G3)', async () => {
  const changed = await apps.put('acme/new-1', chatModel(3, 5), { reason: 'a new model' });
  expect(changed.status).toBe(200);
  await eventually(
    () => statusOnReplica('acme/new-1'),
    (status) => status === 200,
    BOUND,
  );
  const key = await apps.app.createKey();
  await postChat(apps.replica, { model: 'acme/new-1' }, { key: key.secret });
  // 10 prompt tokens and 2 of the answer.
  expect(await costOf(key)).toBe(40_000_000n);
});

it('charges a stream that was open before a change at the old price, and the next call at the new one (G4)', async () => {
  await apps.put('acme/streamed', chatModel(1, 1));
  const [later, begun] = [deferred(), deferred()];
  apps.upstream.answerWith(async (_request, response) => {
    beginStream(response);
    sendEvent(response, text('Hel'));
    begun.resolve();
    await later.promise;
    for (const event of [text('lo'), delta({}, 'stop'), usageOnly(10, 2), '[DONE]'])
      sendEvent(response, event);
    response.end();
  });
  const [before, after] = [await apps.app.createKey(), await apps.app.createKey()];
  const open = streamChat(apps.app, { model: 'acme/streamed' }, { key: before.secret });
  await begun.promise;
  expect((await apps.put('acme/streamed', chatModel(100, 100))).status).toBe(200);
  later.resolve();
  expect((await open).text).toBe('Hello');
  expect(await costOf(before)).toBe(12_000_000n);
  await streamChat(apps.app, { model: 'acme/streamed' }, { key: after.secret });
  expect(await costOf(after)).toBe(1_200_000_000n);
  apps.upstream.answerWith(null);
});

it('accepts one of two changes that are made from the same revision (G7)', async () => {
  await apps.put('acme/contested', chatModel(1, 1));
  const { version } = await modelOf('acme/contested');
  const both = await Promise.all(
    [2, 3].map((price) => apps.put('acme/contested', chatModel(price, price), { ifMatch: `"${version}"` })),
  );
  expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 409]));
  const refused = both.find(({ status }) => status === 409);
  expect(JSON.stringify(refused?.body)).toContain('read it again');
  expect((await modelOf('acme/contested')).revisions).toHaveLength(2);
});

it('gives concurrent changes versions without gaps', async () => {
  const newest = async (): Promise<number> => {
    const { data } = await askFor<CatalogueChangesDto>(200, apps.app, 'get', '/catalogue/changes?limit=1', {
      key: apps.operatorKey,
    });
    return data[0]?.version ?? 0;
  };
  const before = await newest();
  const answers = await Promise.all(
    [1, 2, 3, 4].map((number) => apps.put(`acme/parallel-${number}`, chatModel(1, 1))),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(await newest()).toBe(before + 4);
});

it.each([
  ['an unknown member', { nmae: 'x' }, 'nmae: is not known here'],
  [
    'a price of null',
    { endpoints: [{ provider: 'openai', upstream_model: 'x', prices: [priceRow(null, 1)] }] },
    'endpoints[0].prices[0].usd_per_million_tokens.prompt: must be a decimal number',
  ],
  [
    'a price of the answer alone',
    { endpoints: [{ provider: 'openai', upstream_model: 'x', prices: [priceRow(undefined, 1)] }] },
    'usd_per_million_tokens must have prompt and completion',
  ],
  [
    'a row without a price',
    {
      endpoints: [
        { provider: 'openai', upstream_model: 'x', prices: [{ effective_from: '2026-01-01', source: 'x' }] },
      ],
    },
    'usd_per_million_tokens must have prompt and completion',
  ],
  ['another id', { id: 'acme/other' }, 'model.id: must be acme/refused'],
  ['the name of another model', { aliases: ['openai/gpt-4.1-mini'] }, 'openai/gpt-4.1-mini names'],
  [
    'a number of 17 digits',
    { endpoints: [{ provider: 'openai', upstream_model: 'x', prices: [priceRow(0.1 + 0.2, 1)] }] },
    'has more than 15 digits',
  ],
])('rejects a model with %s and stores nothing (G2, G11, G16)', async (_name, members, message) => {
  const answer = await apps.put('acme/refused', chatModel(1, 1, members));
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body)).toContain(message);
  expect((await ask(apps.app, 'get', '/catalogue/models/acme/refused')).status).toBe(404);
});

it('keeps the width of an embedding model, also after the model is gone (G11)', async () => {
  const embeddings = (width: number): object => ({
    created_at: '2026-01-01',
    context_length: 100,
    native_dimensions: width,
    endpoints: [
      {
        provider: 'openai',
        upstream_model: 'e',
        prices: [{ effective_from: '2026-01-01', source: 'x', usd_per_million_tokens: 1 }],
      },
    ],
  });
  const put = (id: string, model: object) => apps.put(id, model, { kind: 'models' });
  expect((await put('acme/embed', embeddings(8))).status).toBe(200);
  expect((await put('acme/embed', embeddings(16))).status).toBe(409);
  await askFor(200, apps.app, 'delete', '/catalogue/models/acme/embed', { key: apps.operatorKey });
  expect((await put('acme/embed', embeddings(16))).status).toBe(409);
  expect((await put('openai/text-embedding-3-small', { native_dimensions: 8 })).status).toBe(409);
});

it('takes a disabled model out of lists and calls until its layer ends (G13)', async () => {
  const { key, listed } = { key: apps.operatorKey, listed: '/models?q=mistral-small' };
  const idsOf = async (): Promise<string[]> => {
    const { data } = await askFor<{ data: { id: string }[] }>(200, apps.app, 'get', listed);
    return data.map(({ id }) => id);
  };
  const [id] = await idsOf();
  await apps.put(id ?? '', { disabled: true });
  expect(await idsOf()).not.toContain(id);
  const refused = await postChat(apps.app, { model: id });
  expect(refused.status).toBe(404);
  expect(await refused.text()).toContain(`the model ${id} is disabled by the operator`);
  const entries = await askFor<{ data: CatalogueModelDto[]; total_count: number }>(
    200,
    apps.app,
    'get',
    '/catalogue/models?disabled=true',
    { key },
  );
  expect(entries.data).toMatchObject([
    {
      id,
      disabled: true,
      layers: ['shipped', 'operator'],
      sources: { disabled: 'operator', name: 'shipped' },
    },
  ]);
  await askFor(200, apps.app, 'delete', `/catalogue/models/${id}`, { key });
  expect(await idsOf()).toContain(id);
  expect((await ask(apps.app, 'delete', `/catalogue/models/${id}`, { key })).status).toBe(404);
});

it.each([
  ['models', 'openai/text-embedding-3-large', '/embeddings', { input: 'x' }],
  ['rerank_models', 'cohere/rerank-v3.5', '/rerank', { query: 'x', documents: ['x'] }],
] as const)('disables a model of the list %s for every way to reach it', async (kind, id, path, body) => {
  expect((await apps.put(id, { disabled: true }, { kind })).status).toBe(200);
  const message = `the model ${id} is disabled by the operator`;
  const called = await ask(apps.app, 'post', path, { key: apps.app.apiKey, body: { model: id, ...body } });
  const shown = await ask(apps.app, 'get', `/models/${id}`);
  for (const { status, body: answer } of [called, shown]) {
    expect(status).toBe(404);
    expect(JSON.stringify(answer)).toContain(message);
  }
  // Earlier calls are still found.
  expect((await ask(apps.app, 'get', `/generations?model=${id}`)).status).toBe(200);
  const { data } = await askFor<{ data: object[] }>(
    200,
    apps.app,
    'get',
    `/catalogue/models?kind=${kind}&disabled=true`,
  );
  expect(data).toMatchObject([{ id, kind, disabled: true }]);
  await askFor(200, apps.app, 'delete', `/catalogue/models/${id}`, { key: apps.operatorKey });
  expect((await ask(apps.app, 'get', `/models/${id}`)).status).toBe(200);
});

it('lists models of one provider, and those with a configured one', async () => {
  const key = apps.operatorKey;
  const find = async (query: string): Promise<string[]> => {
    const path = `/catalogue/models?limit=100&${query}`;
    const { data } = await askFor<{ data: CatalogueModelDto[] }>(200, apps.app, 'get', path, { key });
    return data.map(({ id }) => id);
  };
  const ofCohere = await find('provider=Cohere');
  expect(ofCohere).toEqual(expect.arrayContaining(['cohere/rerank-v3.5']));
  expect(ofCohere).not.toContain('openai/gpt-4.1-mini');
  expect(await find('provider=cohere&configured=false')).toEqual(ofCohere);
  expect(await find('provider=cohere&configured=true')).toEqual([]);
  expect(await find('q=gpt-4.1-mini&configured=true')).toContain('openai/gpt-4.1-mini');
});

it('adds a rerank model, which lists its price', async () => {
  const model = {
    created_at: '2026-01-01',
    context_length: 4096,
    endpoints: [
      {
        provider: 'cohere',
        upstream_model: 'rank',
        prices: [{ effective_from: '2026-01-01', source: 'x', usd_per_search_unit: 0.0025 }],
      },
    ],
  };
  const put = (changed: object) => apps.put('acme/rank', changed, { kind: 'rerank_models' });
  expect((await put(model)).status).toBe(200);
  expect((await ask(apps.app, 'get', '/models/acme/rank')).status).toBe(200);
  const [endpoint] = model.endpoints;
  const prices = [{ effective_from: '2026-01-01', source: 'x', usd_per_million_tokens: { prompt: 2 } }];
  const refused = await put({ ...model, endpoints: [{ ...endpoint, prices }] });
  expect(refused.status).toBe(400);
  expect(JSON.stringify(refused.body)).toContain('must have usd_per_search_unit');
});

it('reverts a change by a new one with the layer before it (G8)', async () => {
  const versions: number[] = [];
  for (const price of [1, 2, 3]) {
    const { body } = await apps.put('acme/reverted', chatModel(price, price));
    versions.push((body as { data: CatalogueModelDto }).data.version);
  }
  const path = `/catalogue/changes/${versions[1]}/revert`;
  const answer = await askFor<{ data: { version: number; after: object } }>(201, apps.app, 'post', path, {
    key: apps.operatorKey,
    body: {},
  });
  expect(answer.data).toMatchObject({ version: (versions[2] ?? 0) + 1, after: chatModel(1, 1) });
  const { data } = await askFor<{ data: object[] }>(200, apps.app, 'get', '/audit?object_id=acme/reverted', {
    key: apps.operatorKey,
  });
  expect(data).toHaveLength(4);
  expect(data).toContainEqual(
    expect.objectContaining({
      action: 'update',
      object_type: 'catalogue_model',
      before: { id: 'acme/reverted', version: versions[2], ...chatModel(3, 3) },
      after: { id: 'acme/reverted', version: (versions[2] ?? 0) + 1, ...chatModel(1, 1) },
    }),
  );
  const unknown = await ask(apps.app, 'post', '/catalogue/changes/999999/revert', {
    key: apps.operatorKey,
    body: {},
  });
  expect(unknown.status).toBe(404);
});

it("rejects a change by another account's key, which sees no actors (G9)", async () => {
  const answer = await apps.put('acme/taken', chatModel(1, 1), { key: apps.app.managementKey });
  expect(answer.status).toBe(403);
  expect(JSON.stringify(answer.body)).toContain(
    'Only keys of an operator account can change the catalogue: OPERATOR_ACCOUNTS does not name this account',
  );
  expect((await ask(apps.app, 'get', '/catalogue/models/acme/taken')).status).toBe(404);
  await apps.put('acme/seen', chatModel(1, 1), { reason: 'between us' });
  const seen = await askFor<CatalogueChangesDto>(200, apps.app, 'get', '/catalogue/changes?limit=1');
  expect(seen.data).toMatchObject([{ id: 'acme/seen', actor: null, reason: null }]);
  const own = await askFor<CatalogueChangesDto>(200, apps.app, 'get', '/catalogue/changes?limit=1', {
    key: apps.operatorKey,
  });
  expect(own.data).toMatchObject([{ reason: 'between us', actor: expect.stringMatching(/^sk-sb-/) }]);
});

describe('GET /catalogue/models?ids', () => {
  const idsOf = async (ids: string, query = ''): Promise<string[]> => {
    const path = `/catalogue/models?ids=${encodeURIComponent(ids)}${query}`;
    const { data } = await askFor<{ data: { id: string }[] }>(200, apps.app, 'get', path);
    return data.map(({ id }) => id);
  };

  it('returns the models with these ids, and leaves unknown ones out', async () => {
    await apps.put('acme/of-a-list', chatModel(1, 1));
    const found = await idsOf('openai/gpt-4o, acme/of-a-list,no/such-model,openai/text-embedding-3-small');
    expect(found.toSorted()).toEqual(['acme/of-a-list', 'openai/gpt-4o', 'openai/text-embedding-3-small']);
    expect(await idsOf('openai/gpt-4o,acme/of-a-list', '&source=operator')).toEqual(['acme/of-a-list']);
    // An alias is no id.
    expect(await idsOf('gpt-4o')).toEqual([]);
  });

  it('takes at most 100 ids', async () => {
    const ids = Array.from({ length: 101 }, (_none, index) => `acme/model-${index}`);
    expect(await idsOf(ids.slice(1).join(','))).toEqual([]);
    const refused = await ask(apps.app, 'get', `/catalogue/models?ids=${ids.join(',')}`);
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining('ids: must be at most 100'),
    ]);
  });
});
