// The revision and the price row in the record of a call (docs/contract.md#generations).
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CatalogueModelDto } from '../../../src/models/dto/catalogue-model.dto.js';
import type { GenerationDto } from '../../../src/generations/dto/generation.dto.js';
import { chatModel, priceRow, startOperatorApps } from '../../support/catalogue/operator-apps.js';
import type { OperatorApps } from '../../support/catalogue/operator-apps.js';
import { deferred } from '../../support/deferred.js';
import { askFor } from '../../support/requests/admin.js';
import {
  beginStream,
  chatOf,
  delta,
  sendEvent,
  streamChat,
  text,
  usageOnly,
} from '../../support/upstreams/chat-upstream.js';

let apps: OperatorApps;
beforeAll(async () => {
  apps = await startOperatorApps();
});
afterAll(() => apps.close());

async function put(id: string, model: object): Promise<number> {
  const { status, body } = await apps.put(id, model);
  expect(status).toBe(200);
  return (body as { readonly data: CatalogueModelDto }).data.version;
}

async function recordOf(id: string): Promise<GenerationDto> {
  const { data } = await askFor<{ data: GenerationDto }>(200, apps.app, 'get', `/generation?id=${id}`, {
    key: apps.app.apiKey,
  });
  return data;
}

it('records the revision and the price row of the start of a stream (G4)', async () => {
  const { endpoints, ...model } = chatModel(1, 1) as { readonly endpoints: readonly object[] };
  const prices = [priceRow(1, 1), priceRow(2, 2, '2026-02-01')];
  const before = await put('acme/recorded', { ...model, endpoints: [{ ...endpoints[0], prices }] });
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
  const [early, late] = [await apps.app.createKey(), await apps.app.createKey()];
  const open = streamChat(apps.app, { model: 'acme/recorded' }, { key: early.secret });
  await begun.promise;
  const after = await put('acme/recorded', chatModel(3, 3));
  later.resolve();
  await open;
  await streamChat(apps.app, { model: 'acme/recorded' }, { key: late.secret });
  apps.upstream.answerWith(null);
  expect((await chatOf(apps.app, early.record.id)).pricing).toEqual({
    catalogueVersion: before,
    effectiveFrom: '2026-02-01',
  });
  expect((await chatOf(apps.app, late.record.id)).pricing).toEqual({
    catalogueVersion: after,
    effectiveFrom: '2026-01-01',
  });
});

it('shows the revision and the price row in the record of an embeddings call', async () => {
  const version = await put('acme/other', chatModel(1, 1));
  const { status, headers } = await apps.app.http
    .post('/api/v1/embeddings')
    .set('authorization', `Bearer ${apps.app.apiKey}`)
    .send({ model: 'local/hashing', input: 'hi' });
  expect(status).toBe(200);
  const record = await recordOf((headers as Readonly<Record<string, string>>)['x-generation-id'] ?? '');
  expect(record.catalogue_version).toBe(version);
  expect(record.price_effective_from).toMatch(/^\d{4}-\d{2}-\d{2}$/);
});
