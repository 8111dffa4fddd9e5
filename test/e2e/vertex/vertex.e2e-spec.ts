// Gemini at Vertex: tokens of service accounts, and addresses by project and location (docs/operating.md#providers).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SIGNATURE } from '../../support/gemini/gemini-stub.js';
import { createCredential } from '../../support/requests/provider-credential.js';
import { answerChat, chatOf, postChat, streamChat } from '../../support/upstreams/chat-upstream.js';
import { startStubUpstream } from '../../support/upstreams/stub-upstream.js';
import { postMessages } from '../../support/messages/messages-app.js';
import { keyOf, serviceAccount } from '../../support/vertex/service-account.js';
import { CUSTOMER_KEY, ON_VERTEX, SOMEWHERE, startVertexApp } from '../../support/vertex/vertex-app.js';
import type { VertexApp } from '../../support/vertex/vertex-app.js';

let setup: VertexApp;
beforeAll(async () => {
  setup = await startVertexApp();
});
afterEach(() => setup.vertex.answerWith(null));
afterAll(() => setup.close());

const LONG = { messages: [{ role: 'user', content: 'x'.repeat(500) }] };
const post = (body: object = {}, options = {}) =>
  postChat(setup.app, { model: ON_VERTEX, ...LONG, ...body }, options);

describe('a call', () => {
  it('has a token of the service account, which serves all calls of its hour', async () => {
    const before = setup.vertex.exchanges.length;
    const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await post()).status));
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    const { text } = await streamChat(setup.app, { model: ON_VERTEX, ...LONG });
    expect([text, setup.vertex.exchanges.slice(before)]).toEqual(['Hello', ['operator']]);
    const sent = setup.vertex.requests.at(-1);
    expect(sent?.path).toBe(
      '/v1/projects/project-of-operator/locations/global/publishers/google/models/gemini-3-stub:streamGenerateContent?alt=sse',
    );
    expect(sent?.headers).not.toHaveProperty('x-goog-api-key');
  });

  it.each(['vertex', 'google-vertex', 'Google Vertex'])('may name the provider as %s', async (name) => {
    expect((await post({ provider: { only: [name] } })).status).toBe(200);
  });

  it('is charged, and recorded with its provider', async () => {
    const key = await setup.app.createKey();
    const response = await post({}, { key: key.secret });
    expect(await response.json()).toMatchObject({ provider: 'Google Vertex', usage: { cost: 0.003325 } });
    const record = await chatOf(setup.app, key.record.id);
    expect(record.attempts).toMatchObject([{ provider: 'vertex' }]);
  });

  it('keeps the signatures of calls', async () => {
    const { choices } = (await (await post()).json()) as { choices: { message: object }[] };
    const results = ['fc-1', 'fc-2'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'ok' }));
    const messages = [...LONG.messages, choices[0]!.message, ...results];
    expect((await post({ messages })).status).toBe(200);
    expect(setup.vertex.requests.at(-1)?.text).toContain(SIGNATURE);
  });
});

describe('a count of tokens', () => {
  it('is asked at Vertex, with the prompt as its body', async () => {
    const body = { model: ON_VERTEX, messages: [{ role: 'user', content: 'hi' }] };
    const response = await postMessages(setup.app, body, { path: '/v1/messages/count_tokens' });
    const request = setup.vertex.requests.find(({ path }) => path.endsWith(':countTokens'));
    expect(await response.json()).toEqual({ input_tokens: 78 });
    expect(request?.body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] });
  });
});

describe('a credential', () => {
  it('without a token leaves the call to the next endpoint', async () => {
    const other = await startStubUpstream(answerChat);
    const own = await startVertexApp(other.origin);
    own.vertex.refuse('operator');
    const only = await postChat(own.app, { model: ON_VERTEX });
    const next = await postChat(own.app, { model: SOMEWHERE });
    const texts = [await only.text(), await next.text()];
    const tried = own.vertex.requests.map(({ path }) => path);
    await own.close();
    await other.close();
    expect([only.status, next.status, texts[1]]).toEqual([502, 200, expect.stringContaining('Hello')]);
    expect(texts[0]).toContain("refused the operator's credential");
    expect(texts[0]).not.toMatch(/JWT|project|invalid_grant/);
    expect(new Set(tried)).toEqual(new Set(['/token']));
  });

  it("of a customer is exchanged at the operator's address, and calls its own project", async () => {
    const own = await startVertexApp();
    await createCredential(own.app, { provider: 'vertex', apiKey: CUSTOMER_KEY, isFallback: false });
    const response = await postChat(own.app, { model: ON_VERTEX, ...LONG });
    const paths = own.vertex.requests.map(({ path }) => path);
    const { exchanges } = own.vertex;
    await own.close();
    expect([response.status, exchanges]).toEqual([200, ['customer']]);
    expect(paths[1]).toContain('/projects/project-of-customer/');
  });

  it('of a customer never chooses where a request goes', async () => {
    const foreign = await startStubUpstream();
    const own = await startVertexApp();
    const apiKey = keyOf(serviceAccount('customer', { token_uri: `${foreign.origin}/token` }));
    await createCredential(own.app, { provider: 'vertex', apiKey, isFallback: false, isRequired: true });
    const response = await postChat(own.app, { model: ON_VERTEX });
    const text = await response.text();
    const requests = foreign.requests.length + own.vertex.requests.length;
    await own.close();
    await foreign.close();
    expect([response.status, requests]).toEqual([502, 0]);
    expect(text).not.toMatch(/token_uri|127\.0\.0\.1/);
  });
});
