// The unfiltered GET /models, which is sent from a buffer (docs/contract.md#models).
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestApp } from '../../support/app/app.js';
import type { ModelListDto } from '../../../src/models/dto/model-list.dto.js';
import type { ModelDto } from '../../../src/models/dto/model.dto.js';
import { chatModel, priceRow, startOperatorApps } from '../../support/catalogue/operator-apps.js';
import type { OperatorApps } from '../../support/catalogue/operator-apps.js';
import { eventually } from '../../support/eventually.js';
import { ask } from '../../support/requests/admin.js';

let apps: OperatorApps;
beforeAll(async () => {
  apps = await startOperatorApps();
});
afterAll(() => apps.close());

const list = (app: TestApp = apps.app, query = '') => app.http.get(`/api/v1/models${query}`);
const find = async (id: string, app?: TestApp): Promise<ModelDto | undefined> =>
  ((await list(app)).body as ModelListDto).data.find((model) => model.id === id);

it('is the list that a query with its defaults makes', async () => {
  const { headers, body } = await list();
  expect(body).toEqual((await list(apps.app, '?offset=0&limit=1000')).body);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  const tag = headers['etag'] ?? '';
  expect((await list().set('if-none-match', tag)).status).toBe(304);
  expect((await list()).headers['etag']).toBe(tag);
});

it('is made again after a change of the catalogue, at every replica', async () => {
  const before = (await list()).headers['etag'];
  expect(await find('acme/listed')).toBeUndefined();
  expect((await apps.put('acme/listed', chatModel(1, 2))).status).toBe(200);
  expect((await find('acme/listed'))?.pricing.prompt).toBe('0.000001');
  expect((await list()).headers['etag']).not.toBe(before);
  await eventually(
    () => find('acme/listed', apps.replica),
    (model) => model !== undefined,
  );
  await ask(apps.app, 'delete', '/catalogue/models/acme/listed', { key: apps.operatorKey });
  expect(await find('acme/listed')).toBeUndefined();
  expect((await list()).headers['etag']).toBe(before);
});

it('is made again at 00:00 UTC, when other prices and other targets begin', async () => {
  const { endpoints, ...model } = chatModel(1, 2) as { readonly endpoints: readonly object[] };
  const prices = [priceRow(1, 2), priceRow(3, 4, '2026-12-01')];
  await apps.put('acme/dated', { ...model, endpoints: [{ ...endpoints[0], prices }] });
  const targets = [
    { effective_from: '2026-01-01', source: 'a test', target: 'acme/dated' },
    { effective_from: '2026-12-01', source: 'a test', target: 'openai/gpt-4o' },
  ];
  await apps.put('~acme/latest', { targets }, { kind: 'moving_aliases' });
  apps.app.clock.set('2026-11-30T23:59:59.999Z');
  expect((await find('acme/dated'))?.pricing.prompt).toBe('0.000001');
  expect((await find('~acme/latest'))?.alias_target?.slug).toBe('acme/dated');
  apps.app.clock.set('2026-12-01T00:00:00.000Z');
  expect((await find('acme/dated'))?.pricing.prompt).toBe('0.000003');
  expect((await find('~acme/latest'))?.alias_target?.slug).toBe('openai/gpt-4o');
});

it('shows prices of tiers, writes for an hour, and the day on which a model ends', async () => {
  const { endpoints, ...model } = chatModel(1, 2) as { readonly endpoints: readonly object[] };
  const row = {
    ...priceRow(1, 2),
    usd_per_million_tokens: {
      prompt: 1,
      completion: 2,
      cache_read: 0.1,
      cache_write: 1.25,
      cache_write_1h: 2,
    },
    tiers: [
      { min_prompt_tokens: 200_000, usd_per_million_tokens: { prompt: 2, cache_read: 0.2 } },
      { utc_start: '16:30', utc_end: '00:30', usd_per_million_tokens: { completion: 1 } },
    ],
  };
  await apps.put('acme/tiered', {
    ...model,
    expires_on: '2027-03-31',
    endpoints: [{ ...endpoints[0], prices: [row] }],
  });
  const found = await find('acme/tiered');
  expect(found?.expiration_date).toBe('2027-03-31');
  expect(found?.pricing).toMatchObject({
    prompt: '0.000001',
    input_cache_write: '0.00000125',
    input_cache_write_1h: '0.000002',
    overrides: [
      { min_prompt_tokens: 200_000, prompt: '0.000002', input_cache_read: '0.0000002' },
      { utc_start: 1630, utc_end: 30, completion: '0.000001' },
    ],
  });
  await apps.put('acme/plain', chatModel(1, 2));
  const plain = await find('acme/plain');
  expect(plain?.pricing).not.toHaveProperty('overrides');
  expect(plain?.pricing).not.toHaveProperty('input_cache_write_1h');
});
