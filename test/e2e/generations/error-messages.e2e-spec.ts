// Why a call failed: the message in its record, and where it is not kept. Contract: docs/contract.md#generations.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createDestination } from '../../support/deliveries/deliveries.js';
import type { TestApp } from '../../support/app/app.js';
import { askFor } from '../../support/requests/admin.js';
import { LOCAL, rejectWith, SMALL } from '../../support/requests/create-embedding.js';
import { MODEL, startChat } from '../../support/upstreams/chat-upstream.js';
import type { ChatSetup } from '../../support/upstreams/chat-upstream.js';

interface Call {
  readonly id: string;
  readonly status: number;
  readonly api_key_hash: string;
  readonly error_type: string | null;
  readonly error_message: string | null;
}

const WORDS = 'This model reads at most 8192 tokens; your input has 9000.';
const CALLS = [
  ['an embeddings call', '/embeddings', { model: SMALL, input: 'a' }],
  ['a chat', '/chat/completions', { model: MODEL, messages: [{ role: 'user', content: 'a' }] }],
  [
    'a streamed chat',
    '/chat/completions',
    { model: MODEL, stream: true, messages: [{ role: 'user', content: 'a' }] },
  ],
  ['a message', '/messages', { model: MODEL, max_tokens: 9, messages: [{ role: 'user', content: 'a' }] }],
] as const;

let setup: ChatSetup;
let app: TestApp;
beforeAll(async () => {
  setup = await startChat({ PROVIDER_RETRIES: '0' });
  ({ app } = setup);
});
afterEach(() => {
  setup.upstream.answerWith(null);
  app.clock.advance(60_000);
});
afterAll(() => setup.close());

const fail = (message: string, status = 400, code = 'context_length_exceeded'): void =>
  setup.upstream.answerWith(rejectWith(status, { error: { message, code } }));

/** The record of the call, which its list has as well. */
async function callOf(path: string, body: object, to = setup.app, key = to.apiKey): Promise<Call> {
  const response = await to.http.post(`/api/v1${path}`).set('authorization', `Bearer ${key}`).send(body);
  const id = String(response.headers['x-generation-id']);
  const { data } = await askFor<{ data: Call }>(200, to, 'get', `/generation?id=${id}`, { key });
  const list = `/generations?api_key_hash=${data.api_key_hash}`;
  const { data: calls } = await askFor<{ data: Call[] }>(200, to, 'get', list);
  const listed = calls.find((one) => one.id === id);
  expect([listed?.error_type, listed?.error_message]).toEqual([data.error_type, data.error_message]);
  return data;
}

describe('the record of a failed call', () => {
  it.each(CALLS)('has the words of the provider: %s', async (_title, path, body) => {
    fail(WORDS);
    expect(await callOf(path, body)).toMatchObject({
      status: 400,
      error_type: 'context_length_exceeded',
      error_message: WORDS,
    });
  });

  it.each(CALLS)('has at most 300 characters of them: %s', async (_title, path, body) => {
    fail('x'.repeat(5_000), 500, 'server_error');
    expect(await callOf(path, body)).toMatchObject({ status: 502, error_message: 'x'.repeat(300) });
  });

  it.each(CALLS)('has no credential that they repeat: %s', async (_title, path, body) => {
    fail('Wrong: Authorization: Bearer upstream-key of sk-proj-abcdefghijklmnopqrstuvwx');
    const { error_message: message } = await callOf(path, body);
    expect(message).toContain('Wrong');
    expect(message).not.toMatch(/upstream-key|abcdefgh/);
  });

  it("has the service's own words where the provider has none", async () => {
    setup.upstream.answerWith((_request, response) => void response.writeHead(503).end());
    expect(await callOf('/embeddings', { model: SMALL, input: 'a' })).toMatchObject({
      error_message: 'OpenAI answered with HTTP 503',
    });
  });

  it('keeps text that the database cannot store in another form', async () => {
    fail('half \ud83d and \0');
    const { error_message: message } = await callOf('/embeddings', { model: SMALL, input: 'a' });
    expect(message).toMatch(/^half \ufffd and/);
  });
});

it('the record of a success has none', async () => {
  expect(await callOf('/embeddings', { model: LOCAL, input: 'a' })).toMatchObject({
    status: 200,
    error_type: null,
    error_message: null,
  });
});

it('the list has the calls of one error_type', async () => {
  const { record, secret } = await app.createKey();
  fail(WORDS);
  const { id } = await callOf('/embeddings', { model: SMALL, input: 'a' }, app, secret);
  fail('no', 400, 'other');
  const { id: other } = await callOf('/embeddings', { model: SMALL, input: 'a' }, app, secret);
  const list = async (query: string): Promise<string[]> => {
    const path = `/generations?api_key_hash=${record.hash}&${query}`;
    return (await askFor<{ data: Call[] }>(200, app, 'get', path)).data.map((one) => one.id);
  };
  expect(await list('error_type=context_length_exceeded')).toEqual([id]);
  expect(await list('error_type=invalid_request')).toEqual([other]);
  expect(await list('error_type=context_length_exceeded&status=400')).toEqual([id]);
  expect(await list('error_type=context_length_exceeded&status=5xx')).toEqual([]);
  expect(await list('error_type=none')).toEqual([]);
});

describe('where contents may not be kept', () => {
  it('a workspace with a destination in privacy mode keeps no message, also while it is disabled', async () => {
    const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
      body: { name: 'Private', slug: 'private' },
    });
    const { secret } = await app.createKey({ workspaceId: data.id });
    await createDestination(
      app,
      { url: 'https://example.com' },
      { workspaceId: data.id, privacyMode: true, enabled: false },
    );
    for (const [, path, body] of CALLS) {
      fail(WORDS);
      expect(await callOf(path, body, app, secret)).toMatchObject({
        error_type: 'context_length_exceeded',
        error_message: null,
      });
    }
  });

  it('none is kept where the operator keeps no contents', async () => {
    const without = await startChat({ PROVIDER_RETRIES: '0', CONTENT_RETENTION_HOURS: '0' });
    try {
      without.upstream.answerWith(
        rejectWith(400, { error: { message: WORDS, code: 'context_length_exceeded' } }),
      );
      for (const [, path, body] of CALLS)
        expect(await callOf(path, body, without.app)).toMatchObject({ status: 400, error_message: null });
    } finally {
      await without.close();
    }
  });
});
