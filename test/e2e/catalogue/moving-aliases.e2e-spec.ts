// Moving aliases: names that stand for another chat model from a day on (docs/contract.md#models).
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { CatalogueModelDto } from '../../../src/models/dto/catalogue-model.dto.js';
import type { ModelDto } from '../../../src/models/dto/model.dto.js';
import { chatModel, startOperatorApps } from '../../support/catalogue/operator-apps.js';
import type { OperatorApps } from '../../support/catalogue/operator-apps.js';
import { askFor } from '../../support/requests/admin.js';
import { chatOf, postChat, streamChat } from '../../support/upstreams/chat-upstream.js';

const [EARLY, OLD, NEW, UNPRICED] = ['acme/early-1', 'acme/old-1', 'acme/new-1', 'acme/unpriced-1'];

let apps: OperatorApps;
beforeAll(async () => {
  apps = await startOperatorApps();
  await put(EARLY, chatModel(1, 1));
  await put(OLD, chatModel(2, 2));
  await put(NEW, chatModel(30, 30));
  const [endpoint] = (chatModel(1, 1) as { readonly endpoints: readonly object[] }).endpoints;
  await put(UNPRICED, chatModel(1, 1, { endpoints: [{ ...endpoint, prices: [] }] }));
});
afterAll(() => apps.close());

async function put(id: string, model: object): Promise<void> {
  expect((await apps.put(id, model)).body).toMatchObject({ data: { id } });
}

const targetFrom = (day: string, target: string) => ({ effective_from: day, source: 'a test', target });

const putAlias = (id: string, ...targets: readonly object[]) =>
  apps.put(id, { targets }, { kind: 'moving_aliases' });

const today = (): string => apps.app.clock.now().toISOString().slice(0, 10);
const dayAfter = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);

async function listed(id: string): Promise<ModelDto | undefined> {
  const { data } = await askFor<{ data: ModelDto[] }>(200, apps.app, 'get', '/models', {
    key: apps.operatorKey,
  });
  return data.find((model) => model.id === id);
}

it('answers a call of a moving alias as its newest target, at the price of that one (G21)', async () => {
  await putAlias('~acme/latest', targetFrom('2026-01-01', OLD), targetFrom('2026-02-01', NEW));
  const key = await apps.app.createKey();
  const response = await postChat(apps.app, { model: '~acme/latest:nitro' }, { key: key.secret });
  expect(await response.json()).toMatchObject({ model: NEW });
  const generation = await chatOf(apps.app, key.record.id);
  // 10 prompt tokens and 2 of the answer.
  expect(generation).toMatchObject({ model: NEW, cost: 360_000_000n });
  expect(generation.chat?.requestedModel).toBe('~acme/latest:nitro');
  const { data } = await askFor<{ data: object }>(200, apps.app, 'get', `/generation?id=${generation.id}`, {
    key: key.secret,
  });
  expect(data).toMatchObject({ model: NEW, requested_model: '~acme/latest:nitro' });
});

it('streams the answer of a moving alias under the id of its target', async () => {
  await putAlias('~acme/streamed', targetFrom('2026-01-01', OLD));
  const { events } = await streamChat(apps.app, { model: '~acme/streamed' });
  expect(events[0]).toMatchObject({ model: OLD });
});

it('keeps no requested model for a call that names the model itself', async () => {
  const key = await apps.app.createKey();
  await (await postChat(apps.app, { model: OLD }, { key: key.secret })).text();
  expect((await chatOf(apps.app, key.record.id)).chat?.requestedModel).toBeUndefined();
});

it('moves an alias at the beginning of the day of its next target', async () => {
  await putAlias('~acme/tomorrow', targetFrom('2026-01-01', OLD), targetFrom(dayAfter(today()), NEW));
  expect(await listed('~acme/tomorrow')).toMatchObject({ alias_target: { slug: OLD } });
  await putAlias('~acme/tomorrow', targetFrom('2026-01-01', OLD), targetFrom(today(), NEW));
  expect(await listed('~acme/tomorrow')).toMatchObject({ alias_target: { slug: NEW } });
});

it('lists a moving alias with its target and the prices of that one', async () => {
  await putAlias('~acme/listed', targetFrom('2026-01-01', NEW));
  const target = await listed(NEW);
  expect(await listed('~acme/listed')).toMatchObject({
    alias_target: { slug: NEW, name: target?.name },
    canonical_slug: NEW,
    pricing: target?.pricing,
  });
  expect(target).not.toHaveProperty('alias_target');
  expect(await askFor(200, apps.app, 'get', '/model/~acme/listed', { key: apps.operatorKey })).toMatchObject({
    data: { id: '~acme/listed', alias_target: { slug: NEW } },
  });
  const entry = await askFor<{ data: CatalogueModelDto }>(
    200,
    apps.app,
    'get',
    '/catalogue/models/~acme/listed',
    { key: apps.operatorKey },
  );
  expect(entry.data).toMatchObject({ kind: 'moving_aliases', layers: ['operator'] });
  expect(entry.data.model).not.toHaveProperty('endpoints');
});

it.each([
  ['unpriced', UNPRICED],
  ['disabled', 'acme/disabled-1'],
  ['of a provider that is not configured', 'acme/unconfigured-1'],
])('keeps the target before one that is %s, and says so once in the log', async (_name, target) => {
  if (target === 'acme/disabled-1') await put(target, chatModel(9, 9, { disabled: true }));
  if (target === 'acme/unconfigured-1') {
    const { endpoints, ...model } = chatModel(9, 9) as { readonly endpoints: readonly object[] };
    await put(target, { ...model, endpoints: [{ ...endpoints[0], provider: 'google' }] });
  }
  const id = `~${target.replace('-1', '-alias')}`;
  await putAlias(
    id,
    targetFrom('2026-01-01', EARLY),
    targetFrom('2026-02-01', OLD),
    targetFrom('2026-03-01', target),
  );
  const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  for (let call = 0; call < 2; call++)
    expect(await (await postChat(apps.app, { model: id })).json()).toMatchObject({ model: OLD });
  const lines = warn.mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith(`${id}: `));
  expect(lines).toEqual([expect.stringContaining(`${OLD} is in force`)]);
});

it('refuses a moving alias of a model that is not in the catalogue', async () => {
  const { status, body } = await putAlias('~acme/typo', targetFrom('2026-01-01', 'acme/absent'));
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain('targets: there is no chat model acme/absent');
});

it('answers 404 for an alias that is disabled, unknown, or not in force yet', async () => {
  await apps.put(
    '~acme/off',
    { disabled: true, targets: [targetFrom('2026-01-01', OLD)] },
    { kind: 'moving_aliases' },
  );
  await putAlias('~acme/later', targetFrom(dayAfter(today()), OLD));
  for (const model of ['~acme/off', '~acme/unknown', '~acme/later']) {
    const response = await postChat(apps.app, { model });
    expect([model, response.status]).toEqual([model, 404]);
    await response.text();
  }
  expect(await listed('~acme/off')).toBeUndefined();
});
