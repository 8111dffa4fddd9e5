// POST /embeddings with late_chunking: every vector depends on all inputs of its call, so the call is never split.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { answerOf, embed } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { stubOf } from '../../support/providers/drive.js';
import type { RunningProviderStub } from '../../support/providers/provider-stub.js';

// 512 inputs a call.
const MODEL = 'jinaai/jina-embeddings-v4';

let jina: RunningProviderStub;
let app: TestApp;
beforeAll(async () => {
  jina = await stubOf('jina').start();
  app = await createTestApp({
    environment: { JINA_API_KEY: stubOf('jina').apiKey, JINA_BASE_URL: jina.baseUrl },
  });
});
afterAll(async () => {
  await app.close();
  await jina.close();
});

const ask = (count: number, members: object) => {
  const input = Array.from({ length: count }, (_value, index) => `chunk ${index}`);
  return embed(app, { model: MODEL, input, encoding_format: 'base64', ...members });
};

it('sends a call that fits as a whole', async () => {
  const { data } = answerOf(await ask(512, { late_chunking: true }));
  expect(data).toHaveLength(512);
  expect(jina.requests).toHaveLength(1);
  expect(jina.requests[0]?.body).toMatchObject({ late_chunking: true });
});

it('rejects a call that does not fit, naming the maximum', async () => {
  const before = jina.requests.length;
  const response = await ask(513, { late_chunking: true });
  expectError(
    response,
    400,
    'Invalid request parameters: late_chunking: needs all inputs in one call, and Jina AI takes at most ' +
      '512 inputs in one',
  );
  expect(response.headers).not.toHaveProperty('x-generation-id');
  expect(jina.requests).toHaveLength(before);
});

it.each([{ late_chunking: false }, {}])('splits a call as usual with %j', async (members) => {
  const before = jina.requests.length;
  expect(answerOf(await ask(513, members)).data).toHaveLength(513);
  expect(jina.requests).toHaveLength(before + 2);
});
