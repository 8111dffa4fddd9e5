// Base URLs of providers with a query, a user name and a password: where requests go, and that nothing of it leaks.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { embed, SMALL } from '../../support/requests/create-embedding.js';
import { sendJson, startStubUpstream, answerLikeOpenAi } from '../../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../support/upstreams/stub-upstream.js';

const PASSWORD = 'canary-pass/word';
const QUERY_SECRET = 'canary-query-secret';

let upstream: StubUpstream;
let app: TestApp;
beforeAll(async () => {
  upstream = await startStubUpstream();
  const { host } = new URL(upstream.origin);
  app = await createTestApp({
    environment: {
      AZURE_API_KEY: 'azure-key',
      AZURE_BASE_URL: `http://operator:${encodeURIComponent(PASSWORD)}@${host}/?api-version=2024-10-21`,
      OPENAI_API_KEY: 'upstream-key',
      OPENAI_BASE_URL: `${upstream.origin}/gateway/v1/?subscription-key=${QUERY_SECRET}`,
      PROVIDER_RETRIES: '0',
    },
  });
});
beforeEach(() => {
  upstream.requests.length = 0;
  upstream.answerWith(null);
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

const call = (provider: string) =>
  embed(app, { model: SMALL, input: 'hi', provider: { only: [provider], allow_fallbacks: false } });

it('Azure is called at its classic address when the base URL names an api-version', async () => {
  upstream.answerWith(({ body }, response) => {
    const vector = Array.from({ length: 1_536 }, () => 1);
    expect(body).toHaveProperty('input');
    sendJson(response, 200, {
      data: [{ index: 0, embedding: vector }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    });
  });
  expect((await call('azure')).status).toBe(200);
  expect(upstream.requests.map(({ path }) => path)).toEqual([
    '/openai/deployments/text-embedding-3-small/embeddings?api-version=2024-10-21',
  ]);
});

it('the query of a base URL follows the path of the operation', async () => {
  upstream.answerWith((request, response) =>
    answerLikeOpenAi({ ...request, path: '/v1/embeddings' }, response),
  );
  expect((await call('openai')).status).toBe(200);
  expect(upstream.requests.map(({ path }) => path)).toEqual([
    `/gateway/v1/embeddings?subscription-key=${QUERY_SECRET}`,
  ]);
});

it('a provider that repeats the query in its error does not reveal it', async () => {
  upstream.answerWith(({ path }, response) => sendJson(response, 400, { error: { message: `bad ${path}` } }));
  const rejected = await call('openai');
  expect(rejected.status).toBe(400);
  expect(JSON.stringify(rejected.body)).toContain('bad /gateway/v1/embeddings?subscription-key=****');
  expect(JSON.stringify(rejected.body)).not.toContain('canary');
});

it('the password of a base URL is sent as a header, and not revealed by a provider that repeats it', async () => {
  const basic = Buffer.from(`operator:${PASSWORD}`).toString('base64');
  upstream.answerWith(({ headers }, response) =>
    sendJson(response, 400, {
      error: { message: `no ${headers.authorization}, ${PASSWORD}, ${encodeURIComponent(PASSWORD)}` },
    }),
  );
  const rejected = await call('azure');
  expect(upstream.requests[0]?.headers).toMatchObject({
    authorization: `Basic ${basic}`,
    'api-key': 'azure-key',
  });
  expect(JSON.stringify(rejected.body)).toContain('no Basic ****, ****, ****');
  expect(JSON.stringify(rejected.body)).not.toMatch(/canary|Y2FuYXJ5/);
});
