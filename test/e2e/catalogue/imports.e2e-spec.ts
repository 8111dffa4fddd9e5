// Imports of the catalogue (docs/contract.md#catalogue): prices of maintained lists, which hold when a person applies them.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CatalogueImportDto } from '../../../src/models/dto/catalogue-imports.dto.js';
import type { CatalogueModelDto } from '../../../src/models/dto/catalogue-model.dto.js';
import { chatModel, priceRow, startOperatorApps } from '../../support/catalogue/operator-apps.js';
import type { OperatorApps } from '../../support/catalogue/operator-apps.js';
import { loadUpdateScripts } from '../../support/catalogue/update-scripts.js';
import type { ReadList, UpdateScripts } from '../../support/catalogue/update-scripts.js';
import { listAt } from '../../support/discovery/discovered.js';
import { eventually } from '../../support/eventually.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { postChat } from '../../support/upstreams/chat-upstream.js';

const [SHIPPED, OTHER] = ['openai/gpt-4o', 'openai/gpt-4o-mini'];
const ROW = { source: 'a test', effective_from: '2026-01-01' };

let apps: OperatorApps;
let scripts: UpdateScripts;
beforeAll(async () => {
  apps = await startOperatorApps();
  scripts = await loadUpdateScripts();
});
afterAll(() => apps.close());

interface Prices {
  readonly prompt: number;
  readonly completion: number;
}

/** As `npm run catalogue:update -- --post` makes it. `choices`: by list. */
function proposal(
  id: string,
  own: Prices | null,
  choices: Readonly<Record<string, Prices>>,
  members: object = {},
) {
  const values = Object.entries(choices);
  const [provider, upstream] = ['openai', id.slice(id.indexOf('/') + 1)];
  const head = own === null ? { created_at: '2026-01-01', context_length: 100_000 } : {};
  return {
    group: 'dearer',
    kind: 'chat_models',
    id,
    provider,
    upstream_model: upstream,
    prices: (['prompt', 'completion'] as const).map((member) => ({
      member,
      own: own && String(own[member]),
      values: values.map(([list, prices]) => ({ list, value: String(prices[member]) })),
    })),
    holds: [],
    summary: `${provider} ${upstream}: ${JSON.stringify(choices)}`,
    choices: values.map(([list, prices]) => ({
      lists: [list],
      model: {
        id,
        ...head,
        endpoints: [
          {
            provider,
            ...(own === null && { upstream_model: upstream }),
            prices: [{ ...ROW, usd_per_million_tokens: prices }],
          },
        ],
      },
    })),
    ...members,
  };
}

let posted = 0;
async function post(...proposals: readonly object[]): Promise<CatalogueImportDto> {
  posted += 1;
  // The newest one is known by its time.
  apps.app.clock.advance(1);
  const body = { lists: [`a list, read ${posted}`], proposals };
  const { data } = await askFor<{ data: CatalogueImportDto }>(201, apps.app, 'post', '/catalogue/imports', {
    key: apps.operatorKey,
    body,
  });
  return data;
}

const apply = (id: string, ...entries: readonly object[]) =>
  ask(apps.app, 'post', `/catalogue/imports/${id}/apply`, { key: apps.operatorKey, body: { entries } });

async function modelOf(id: string): Promise<CatalogueModelDto> {
  const { data } = await askFor<{ data: CatalogueModelDto }>(
    200,
    apps.app,
    'get',
    `/catalogue/models/${id}`,
    { key: apps.operatorKey },
  );
  return data;
}

async function ownOf(id: string): Promise<Prices> {
  const { model } = await modelOf(id);
  const [endpoint] = (model as { endpoints: { prices: { usd_per_million_tokens: Prices }[] }[] }).endpoints;
  const { prompt, completion } = endpoint!.prices.at(-1)!.usd_per_million_tokens;
  return { prompt, completion };
}

const messageOf = (body: unknown): string => JSON.stringify(body);

it('changes nothing until a proposal is applied, and then every replica in one step', async () => {
  const own = await ownOf(SHIPPED);
  const { version } = await modelOf(SHIPPED);
  const found = await post(
    proposal(SHIPPED, own, { one: { prompt: 3, completion: 11 } }),
    proposal('openai/new-of-a-list', null, { one: { prompt: 1, completion: 2 } }, { group: 'new' }),
  );
  expect(found).toMatchObject({ state: 'open', proposal_count: 2, applied_count: 0 });
  expect(found.proposals.flatMap(({ choices }) => choices.map(({ problem }) => problem))).toEqual([
    null,
    null,
  ]);
  expect(await ownOf(SHIPPED)).toEqual(own);
  const applied = await apply(found.id, { number: 0 }, { number: 1 });
  expect(applied.status).toBe(200);
  expect((applied.body as { data: CatalogueImportDto }).data).toMatchObject({
    state: 'applied',
    applied_count: 2,
    proposals: [{ applied_version: expect.any(Number) }, { applied_version: expect.any(Number) }],
  });
  const changed = await modelOf(SHIPPED);
  expect(changed.version).toBeGreaterThan(version);
  expect(changed.layers).toEqual(['shipped', 'imported']);
  expect(changed.revisions[0]).toMatchObject({
    layer: 'imported',
    reason: expect.stringContaining(`import ${found.id}: a list`),
  });
  await eventually(
    async () => (await postChat(apps.replica, { model: 'openai/new-of-a-list' })).status,
    (status) => status === 200,
    2_000,
  );
  const again = await apply(found.id, { number: 0 });
  expect([again.status, messageOf(again.body)]).toEqual([
    409,
    expect.stringContaining('it is applied, as revision'),
  ]);
});

it("keeps the operator's own prices and limits above an applied import (G6)", async () => {
  const before = chatModel(5, 6) as { endpoints: object[] };
  await apps.put('acme/owned', { ...before, description: 'Ours' });
  const [owned] = (
    await post(proposal('acme/owned', { prompt: 5, completion: 6 }, { one: { prompt: 1, completion: 1 } }))
  ).proposals;
  expect(owned?.choices[0]?.problem).toBe("the operator's own layer states the price of openai");
  const own = await ownOf(OTHER);
  await apps.put(OTHER, { description: 'Ours' });
  const { id } = await post(proposal(OTHER, own, { one: { prompt: 0.2, completion: 0.7 } }));
  expect((await apply(id, { number: 0 })).status).toBe(200);
  expect(await modelOf(OTHER)).toMatchObject({
    model: { description: 'Ours' },
    sources: { description: 'operator', endpoints: { openai: { prices: 'imported' } } },
  });
});

describe('a proposal that is held', () => {
  const held = (own: Prices) =>
    proposal(
      SHIPPED,
      own,
      { one: { prompt: own.prompt * 1000, completion: own.completion } },
      {
        holds: [{ reason: 'one: prompt changes by a factor of 1000', is_typed: true }],
      },
    );

  it('is applied alone, and by a person who types its summary', async () => {
    const own = await ownOf(SHIPPED);
    const { id, proposals } = await post(held(own), proposal('openai/beside', null, { one: own }));
    const unconfirmed = await apply(id, { number: 0 });
    expect([unconfirmed.status, messageOf(unconfirmed.body)]).toEqual([
      409,
      expect.stringContaining('one: prompt changes by a factor of 1000; confirm it by its summary'),
    ]);
    const confirmation = proposals[0]!.summary;
    const beside = await apply(id, { number: 0, confirmation }, { number: 1 });
    expect([beside.status, messageOf(beside.body)]).toEqual([409, expect.stringContaining('apply it alone')]);
    expect(await ownOf(SHIPPED)).toEqual(own);
    expect((await apply(id, { number: 0, confirmation })).status).toBe(200);
    expect(await ownOf(SHIPPED)).toEqual({ ...own, prompt: own.prompt * 1000 });
  });
});

it('needs the list whose prices hold where lists disagree', async () => {
  const choices = { one: { prompt: 1, completion: 4 }, two: { prompt: 2, completion: 4 } };
  const { id } = await post(proposal('openai/of-two', null, choices, { group: 'lists disagree' }));
  const unnamed = await apply(id, { number: 0 });
  expect([unnamed.status, messageOf(unnamed.body)]).toEqual([
    409,
    expect.stringContaining('name the list whose prices hold: one, two'),
  ]);
  expect((await apply(id, { number: 0, list: 'two' })).status).toBe(200);
  expect(await ownOf('openai/of-two')).toEqual(choices.two);
});

it('refuses a proposal whose prices have changed since the comparison, or whose import is discarded', async () => {
  const stale = await post(
    proposal(SHIPPED, { prompt: 77, completion: 77 }, { one: { prompt: 1, completion: 2 } }),
  );
  const answer = await apply(stale.id, { number: 0 });
  expect([answer.status, messageOf(answer.body)]).toEqual([
    409,
    expect.stringContaining('its prices have changed since the comparison'),
  ]);
  const key = apps.operatorKey;
  await askFor(200, apps.app, 'delete', `/catalogue/imports/${stale.id}`, { key });
  expect((await apply(stale.id, { number: 0 })).status).toBe(409);
  expect((await ask(apps.app, 'delete', `/catalogue/imports/${stale.id}`, { key })).status).toBe(404);
});

it.each<[string, object, string]>([
  ['a width of vectors', { native_dimensions: 8 }, 'native_dimensions: is not known here'],
  ['aliases', { aliases: ['acme/x'] }, 'aliases: is not known here'],
])('refuses an import that changes %s (G2)', async (_name, members, problem) => {
  const wrong = proposal(SHIPPED, null, { one: { prompt: 1, completion: 2 } });
  const [choice] = wrong.choices;
  const answer = await ask(apps.app, 'post', '/catalogue/imports', {
    key: apps.operatorKey,
    body: {
      lists: ['x'],
      proposals: [{ ...wrong, choices: [{ ...choice, model: { ...choice!.model, ...members } }] }],
    },
  });
  expect([answer.status, messageOf(answer.body)]).toEqual([400, expect.stringContaining(problem)]);
});

it.each<[string, object, string]>([
  ['the upstream model', { upstream_model: 'gpt-4' }, 'an import does not change upstream_model of openai'],
  ['the data policy', { data_policy: {} }, 'an import does not change data_policy of openai'],
  ['a price of seven decimals', { prices: [priceRow('0.0799999', 1)] }, 'must have at most 6 decimal places'],
])('says why a proposal that changes %s cannot be applied', async (_name, members, problem) => {
  const own = await ownOf(SHIPPED);
  const wrong = proposal(SHIPPED, own, { one: { prompt: 1, completion: 2 } });
  const [choice] = wrong.choices;
  const endpoints = choice!.model.endpoints.map((endpoint) => Object.assign({}, endpoint, members));
  const { id, proposals } = await post({
    ...wrong,
    choices: [{ ...choice, model: { id: SHIPPED, endpoints } }],
  });
  expect(proposals[0]?.choices[0]?.problem).toContain(problem);
  expect((await apply(id, { number: 0 })).status).toBe(409);
});

it('is audited when it is made, applied and discarded', async () => {
  const own = await ownOf(OTHER);
  const { id } = await post(proposal(OTHER, own, { one: { prompt: 0.2, completion: 0.7 } }));
  // Entries are in the order of their times.
  apps.app.clock.advance(1);
  expect((await apply(id, { number: 0 })).status).toBe(200);
  // Refused changes have no entry.
  expect((await apply(id, { number: 0 })).status).toBe(409);
  const discard = () => ask(apps.app, 'delete', `/catalogue/imports/${id}`, { key: apps.operatorKey });
  apps.app.clock.advance(1);
  expect((await discard()).status).toBe(200);
  expect((await discard()).status).toBe(404);
  const { data } = await askFor<{ data: object[] }>(200, apps.app, 'get', `/audit?object_id=${id}`, {
    key: apps.operatorKey,
  });
  const { version } = await modelOf(OTHER);
  const open = { lists: [`a list, read ${posted}`], state: 'open', proposals: 1, applied: {} };
  const applied = { ...open, state: 'applied', applied: { 0: version } };
  expect(data.toReversed()).toEqual(
    [
      { action: 'create', before: null, after: open },
      { action: 'update', before: open, after: applied },
      { action: 'delete', before: applied, after: null },
    ].map((entry) => expect.objectContaining({ ...entry, object_type: 'catalogue_import', object_id: id })),
  );
});

it('keeps the newest 20 imports, and none twice', async () => {
  const key = apps.operatorKey;
  const body = {
    lists: ['twice'],
    proposals: [proposal('openai/twice', null, { one: { prompt: 1, completion: 1 } })],
  };
  await askFor(201, apps.app, 'post', '/catalogue/imports', { key, body });
  expect((await ask(apps.app, 'post', '/catalogue/imports', { key, body })).status).toBe(409);
  for (let count = 0; count < 20; count++) await post();
  const { data } = await askFor<{ data: { lists: string[] }[] }>(200, apps.app, 'get', '/catalogue/imports', {
    key,
  });
  expect(data).toHaveLength(20);
  expect(data[0]?.lists).toEqual([`a list, read ${posted}`]);
});

it("answers 403 to a tenant's key, also for the list", async () => {
  const key = apps.app.managementKey;
  expect((await ask(apps.app, 'get', '/catalogue/imports', { key })).status).toBe(403);
  const body = { lists: ['x'], proposals: [] };
  expect((await ask(apps.app, 'post', '/catalogue/imports', { key, body })).status).toBe(403);
});

it('refuses 300 MB before it reads them, and a body that is cut off', async () => {
  const send = (headers: Readonly<Record<string, string>>, text: string) => {
    const request = apps.app.http
      .post('/api/v1/catalogue/imports')
      .set('authorization', `Bearer ${apps.operatorKey}`);
    return request.set({ 'content-type': 'application/json', ...headers }).send(text);
  };
  const large = ' '.repeat(21 * 2 ** 20);
  expect((await send({}, large)).status).toBe(413);
  expect((await send({}, '{"lists":["x"],"proposals":[{"group":"ne')).status).toBe(400);
});

it('is posted by the command of maintainers, which compares lists with the catalogue of the service', async () => {
  const rows = function* () {
    const offer = (amounts: object) => [{ from: null, amounts, tiers: [] }];
    yield {
      provider: 'openai',
      model: 'gpt-of-lists',
      contextLength: 1000,
      prices: offer({ prompt: 1, completion: 4 }),
    };
  };
  const listOf = (name: string): ReadList => scripts.readList({ name, shift: 0, anchors: [], rows }, {});
  const lists = [listOf('one'), listOf('two')];
  const service = { url: apps.app.origin, key: apps.operatorKey };
  const today = apps.app.clock.now().toISOString().slice(0, 10);
  const found = scripts.compare(await scripts.readService(service), lists, today);
  const said = await scripts.postProposals(service, found, lists, today);
  const [, id] = /as import ([\da-f-]{36})/.exec(said) ?? [];
  const { data } = await askFor<{ data: CatalogueImportDto }>(
    200,
    apps.app,
    'get',
    `/catalogue/imports/${id}`,
    {
      key: apps.operatorKey,
    },
  );
  expect(data.proposals).toEqual([
    expect.objectContaining({
      group: 'new',
      id: 'openai/gpt-of-lists',
      choices: [expect.objectContaining({ lists: ['one', 'two'], problem: null })],
    }),
  ]);
  expect((await apply(data.id, { number: 0 })).status).toBe(200);
  expect(await ownOf('openai/gpt-of-lists')).toEqual({ prompt: 1, completion: 4 });
});

it('marks a new model that the provider does not list (G48)', async () => {
  await listAt(apps.app, 'openai', { 'seen-1': {} });
  const propose = (name: string) =>
    proposal(`openai/${name}`, null, { one: { prompt: 1, completion: 2 } }, { group: 'new' });
  const { id, proposals } = await post(propose('seen-1'), propose('unseen-1'));
  expect(proposals.map(({ holds }) => holds)).toEqual([
    [],
    [{ reason: 'not seen at the provider', is_typed: false }],
  ]);
  // A person may know better.
  expect((await apply(id, { number: 1 })).status).toBe(200);
});
