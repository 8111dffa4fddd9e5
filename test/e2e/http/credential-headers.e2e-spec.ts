// Headers of clients that send their key without `Authorization`.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { expectError } from '../../support/requests/error-shape.js';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const getKey = (headers: Readonly<Record<string, string>>) => app.http.get('/api/v1/key').set(headers);

it.each(['x-api-key', 'api-key', 'x-portkey-api-key'])('%s is read as a credential', async (name) => {
  expect((await getKey({ [name]: app.apiKey })).status).toBe(200);
  expect((await getKey({ [name]: app.apiKey, authorization: '' })).status).toBe(200);
  expectError(await getKey({ [name]: 'wrong' }), 401, 'Invalid credentials');
  expectError(await getKey({ [name]: '' }), 401, 'Missing Authentication header');
  // Coding agents send a token of their own beside it.
  expect((await getKey({ [name]: app.apiKey, authorization: 'Bearer wrong' })).status).toBe(200);
  const { secret } = await app.createKey();
  expectError(
    await getKey({ [name]: secret, authorization: `Bearer ${app.apiKey}` }),
    401,
    'Invalid credentials',
  );
  expect((await getKey({ [name]: 'wrong', authorization: `Bearer ${app.apiKey}` })).status).toBe(200);
  const embedded = await app.http
    .post('/api/v1/embeddings')
    .set(name, app.apiKey)
    .send({ model: 'local/hashing', input: 'hi' });
  expect(embedded.status).toBe(200);
});
