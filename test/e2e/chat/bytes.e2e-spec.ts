// The bytes that chats hold, the bills of failed attempts, dropped members, and own keys that were passed over.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import {
  answerChat,
  beginStream,
  chatOf,
  delta,
  HELLO,
  MODEL,
  postChat,
  sendEvent,
  startChat,
  streamChat,
  streamOf,
  text,
  usage,
  usageOnly,
} from '../../support/upstreams/chat-upstream.js';
import type { ChatSetup } from '../../support/upstreams/chat-upstream.js';
import { createCredential } from '../../support/requests/provider-credential.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';

let setup: ChatSetup;
beforeAll(async () => {
  setup = await startChat({ PROVIDER_RETRIES: '0' });
});
afterEach(() => {
  setup.upstream.answerWith(answerChat);
  setup.upstream.requests.splice(0);
});
afterAll(() => setup.close());

const LARGE = 'x'.repeat(100_000);

/** Chats in flight, and their bytes. */
async function inFlight(): Promise<readonly [number, number]> {
  const { text: metrics } = await setup.app.http.get('/metrics');
  const valueOf = (name: string) =>
    Number(new RegExp(`^${name}\\{group="chats"\\} (.*)$`, 'm').exec(metrics)?.[1]);
  return [valueOf('signalbox_http_in_flight'), valueOf('signalbox_http_in_flight_bytes')];
}

const untilFree = () => eventually(inFlight, ([calls, bytes]) => calls === 0 && bytes === 0);

describe('the bytes in flight', () => {
  it('include an answer while its stream is open, and are free after a client that leaves', async () => {
    setup.upstream.answerWith((_request, response) => {
      beginStream(response);
      sendEvent(response, text(LARGE));
    });
    const leaving = new AbortController();
    const response = await postChat(setup.app, { stream: true }, { signal: leaving.signal });
    expect(response.status).toBe(200);
    await eventually(inFlight, ([calls, bytes]) => calls === 1 && bytes >= LARGE.length);
    leaving.abort();
    await untilFree();
  });

  it.each([
    ['a finished stream', streamOf(text(LARGE), delta({}, 'stop'), usageOnly(10, 2), '[DONE]')],
    ['a stream that breaks', streamOf(text(LARGE))],
    ['a stream that fails before its content', streamOf({ error: { code: 500, message: 'broken' } })],
  ])('are free after %s', async (_name, handler) => {
    setup.upstream.answerWith(handler);
    await streamChat(setup.app, {}).catch(() => null);
    await untilFree();
  });

  it('are free after an answer without a stream, of a large prompt', async () => {
    const response = await postChat(setup.app, { messages: [{ role: 'user', content: LARGE }] });
    expect(response.status).toBe(200);
    await untilFree();
  });
});

it('a large prompt reaches the provider of a stream whole', async () => {
  const messages = [{ role: 'user', content: LARGE }];
  const read = await streamChat(setup.app, { messages });
  expect(read.text).toBe('Hello');
  expect(setup.upstream.requests[0]?.body['messages']).toEqual(messages);
});

describe('an attempt that fails with usage', () => {
  const failing = { error: { code: 500, message: 'broken' }, usage: usage(10, 5) };

  it.each([
    ['of a stream', true],
    ['of a whole answer', false],
  ])('%s is billed to the operator, and never to the caller', async (_name, isStreamed) => {
    setup.upstream.answerWith((request, response) => {
      if (request.body['model'] !== 'gpt-4.1-mini') {
        if (isStreamed) void streamOf(...HELLO)(request, response);
        else answerChat(request, response);
      } else if (isStreamed) void streamOf(failing)(request, response);
      else sendJson(response, 200, failing);
    });
    const key = await setup.app.createKey({ limit: 10n ** 12n });
    const body = { stream: isStreamed, models: ['openai/gpt-4.1-nano'] };
    const response = await postChat(setup.app, body, { key: key.secret });
    await response.text();
    // nano: 100,000 and 400,000 picodollars a token.
    const cost = 10n * 100_000n + 2n * 400_000n;
    expect(await chatOf(setup.app, key.record.id)).toMatchObject({
      status: 200,
      cost,
      upstreamCost: cost + 10n * 400_000n + 5n * 1_600_000n,
    });
  });
});

it('reports dropped members in the routing metadata, the attempts and the metrics', async () => {
  const key = await setup.app.createKey();
  const response = await fetch(`${setup.app.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key.secret}`,
      'x-openrouter-metadata': 'enabled',
    },
    body: JSON.stringify({
      model: MODEL,
      messages: [{ role: 'user', content: 'hi' }],
      top_k: 5,
      a_name_of_the_caller: 1,
    }),
  });
  const body = (await response.json()) as { openrouter_metadata: { edits?: readonly string[] } };
  expect(body.openrouter_metadata.edits).toEqual(['top_k', 'a_name_of_the_caller']);
  const { attempts } = await chatOf(setup.app, key.record.id);
  expect(attempts).toMatchObject([{ droppedMembers: ['top_k', 'a_name_of_the_caller'] }]);
  const { text: metrics } = await setup.app.http.get('/metrics');
  expect(metrics).toContain('signalbox_chat_dropped_members_total{provider="openai",member="top_k"} 1');
  expect(metrics).toContain('signalbox_chat_dropped_members_total{provider="openai",member="other"} 1');
  expect(metrics).not.toContain('a_name_of_the_caller');
});

it('a refused member that was sent is counted', async () => {
  const error = { message: 'no', type: 'invalid_request_error', param: 'seed', code: 'unknown_parameter' };
  setup.upstream.answerWith((_request, response) => sendJson(response, 400, { error }));
  expect((await postChat(setup.app, { seed: 1 })).status).toBe(400);
  const { text: metrics } = await setup.app.http.get('/metrics');
  expect(metrics).toContain('signalbox_chat_unexpected_refusals_total{provider="openai",member="seed"} 1');
});

it('failures of streams are counted by their phase', async () => {
  const countOf = async (labels: string) => {
    const { text: metrics } = await setup.app.http.get('/metrics');
    const series = `signalbox_chat_stream_failures_total{${labels}} `;
    return Number(metrics.split(series)[1]?.split('\n')[0]);
  };
  const [headers, gate, content] = [
    'kind="provider_error",phase="headers"',
    'kind="provider_error",phase="first_content"',
    'kind="broken_answer",phase="content"',
  ] as const;
  const before = [await countOf(headers), await countOf(gate), await countOf(content)];
  setup.upstream.answerWith((_request, response) => sendJson(response, 500, { error: { message: 'no' } }));
  await postChat(setup.app, { stream: true });
  setup.upstream.answerWith(streamOf({ error: { code: 500, message: 'no' } }));
  await postChat(setup.app, { stream: true });
  setup.upstream.answerWith(streamOf(text('one')));
  await streamChat(setup.app, {});
  const after = [await countOf(headers), await countOf(gate), await countOf(content)];
  expect(after.map((count, index) => count - (before[index] ?? NaN))).toEqual([1, 1, 1]);
});

it('a stream names an own key that the operator’s replaced', async () => {
  setup.upstream.answerWith((request, response) => {
    if (request.headers.authorization?.includes('own-key') === true)
      sendJson(response, 401, { error: { message: 'no', code: 'invalid_api_key' } });
    else void streamOf(...HELLO)(request, response);
  });
  await createCredential(setup.app, { apiKey: 'own-key-number-1' });
  const read = await eventually(
    () => streamChat(setup.app, {}),
    ({ headers }) => headers.get('x-byok-passed-over') !== null,
  );
  expect(read.headers.get('x-byok-passed-over')).toBe('openai;reason=refused');
  expect(read.text).toBe('Hello');
});

it('the id in the headers of a provider is recorded where the body has none, and for a failed attempt', async () => {
  setup.upstream.answerWith((request, response) => {
    const isFirst = request.body['model'] === 'gpt-4.1-mini';
    response.setHeader('x-request-id', isFirst ? 'req-failed' : 'req-served');
    if (isFirst) sendJson(response, 500, { error: { message: 'no' } });
    else {
      const choice = { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' };
      sendJson(response, 200, { object: 'chat.completion', choices: [choice], usage: usage(10, 2) });
    }
  });
  const key = await setup.app.createKey();
  const response = await postChat(setup.app, { models: ['openai/gpt-4.1-nano'] }, { key: key.secret });
  expect([response.status, response.headers.get('x-request-id')]).toEqual([
    200,
    expect.not.stringMatching('req-'),
  ]);
  const { upstreamId, attempts } = await chatOf(setup.app, key.record.id);
  expect(upstreamId).toBe('req-served');
  expect(attempts[0]).toMatchObject({ status: 500, upstreamId: 'req-failed' });
});
