// Lists that are sent only if they have changed, and responses without a tag.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { embed, LOCAL } from '../../support/requests/create-embedding.js';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  app.http.get(path).set({ authorization: `Bearer ${app.managementKey}`, ...headers });

const LISTS = [
  '/api/v1/embeddings/models',
  '/api/v1/models?output_modalities=embeddings',
  '/api/v1/models/user?output_modalities=embeddings',
  `/api/v1/model/openai/text-embedding-3-small`,
  '/api/v1/providers',
  '/api/v1/keys',
  '/api/v1/byok',
  '/api/v1/workspaces',
  '/api/v1/observability/destinations',
  '/api/v1/openapi.json',
];

it.each(LISTS)('%s returns 304 for its current tag', async (path) => {
  const first = await get(path);
  expect(first.status).toBe(200);
  expect(first.headers['content-type']).toMatch(/^application\/json; charset=utf-8$/);
  const tag = first.headers['etag'] ?? '';
  expect(tag).toMatch(/^W\/"[\w-]{20,}"$/);
  const again = await get(path, { 'if-none-match': tag });
  expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' });
  expect(again.headers['etag']).toBe(tag);
  expect((await get(path, { 'if-none-match': 'W/"another"' })).body).toEqual(first.body);
});

it('compares weakly and among other tags, as `fetch` requests', async () => {
  const { headers } = await get('/api/v1/keys');
  const tag = headers['etag'] ?? '';
  const wanted = `"another", ${tag.slice(2)}`;
  const again = await get('/api/v1/keys', { 'if-none-match': wanted, 'cache-control': 'no-cache' });
  expect(again.status).toBe(304);
});

it('returns a list that has changed', async () => {
  const { headers } = await get('/api/v1/keys');
  await app.createKey({ name: 'A new one' });
  const again = await get('/api/v1/keys', { 'if-none-match': headers['etag'] ?? '' });
  expect(again.status).toBe(200);
  expect(again.headers['etag']).not.toBe(headers['etag']);
  expect(again.text).toContain('A new one');
});

it('matches `*` where there are tags, and returns the whole response elsewhere', async () => {
  expect((await get('/api/v1/keys', { 'if-none-match': '*' })).status).toBe(304);
  const { status, body } = await get('/api/v1/key', { 'if-none-match': '*' });
  expect(status).toBe(200);
  expect(body).toEqual((await get('/api/v1/key')).body);
});

it('checks the credential before the tag', async () => {
  const { headers } = await get('/api/v1/keys');
  const { status } = await app.http.get('/api/v1/keys').set('if-none-match', headers['etag'] ?? '');
  expect(status).toBe(401);
});

it.each<[string, () => Promise<{ readonly headers: Readonly<Record<string, string>> }>]>([
  ['embeddings', () => embed(app, { model: LOCAL, input: 'hello' })],
  ['an error', () => get('/api/v1/keys/none')],
  [
    'a new secret',
    () =>
      app.http
        .post('/api/v1/keys')
        .set('authorization', `Bearer ${app.managementKey}`)
        .send({ name: 'Secret' }),
  ],
])('computes no digest of %s', async (_name, ask) => {
  expect((await ask()).headers).not.toHaveProperty('etag');
});
