// POST /chat/completions with and without a stream: answers, fallback, money and records.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parseUsd } from '../../../src/domain/spend/money.js';
import {
  answerChat,
  beginStream,
  chatOf,
  chatsOf,
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
import { sendJson } from '../../support/upstreams/stub-upstream.js';

let setup: ChatSetup;
beforeAll(async () => {
  setup = await startChat();
});
afterEach(() => {
  setup.upstream.answerWith(answerChat);
  setup.upstream.requests.splice(0);
});
afterAll(() => setup.close());

const newKey = (limit?: string) => setup.app.createKey(limit === undefined ? {} : { limit: parseUsd(limit) });
const costOf = (prompt: number, completion: number): bigint =>
  BigInt(prompt) * 400_000n + BigInt(completion) * 1_600_000n;

describe('an answer without a stream', () => {
  it('has the provider, the cost and the id of its record', async () => {
    const { app, upstream } = setup;
    const key = await newKey('1');
    const response = await postChat(app, {}, { key: key.secret });
    const body = (await response.json()) as Record<string, unknown>;
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({
      id: response.headers.get('x-generation-id'),
      object: 'chat.completion',
      model: MODEL,
      provider: 'OpenAI',
      system_fingerprint: null,
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, cost: 0.0000072, is_byok: false },
    });
    expect(upstream.requests[0]?.body).toEqual({
      model: 'gpt-4.1-mini',
      messages: [{ role: 'user', content: 'hi' }],
      max_completion_tokens: 32_768,
    });
    const generation = await chatOf(app, key.record.id);
    expect(generation).toMatchObject({
      operation: 'chat',
      status: 200,
      model: MODEL,
      provider: 'openai',
      cost: costOf(10, 2),
      chat: { completionTokens: 2, usageSource: 'reported', finishReason: 'stop', isStreamed: false },
    });
  });

  it('sends no output limit where no spend limit is in force', async () => {
    await postChat(setup.app, {});
    expect(setup.upstream.requests[0]?.body).toEqual({
      model: 'gpt-4.1-mini',
      messages: [{ role: 'user', content: 'hi' }],
    });
  });

  it('comes from the next model after a failure of the first', async () => {
    setup.upstream.answerWith((request, response) => {
      if (request.body['model'] === 'gpt-4.1-mini') sendJson(response, 500, { error: { message: 'broken' } });
      else answerChat(request, response);
    });
    const key = await newKey();
    const response = await postChat(setup.app, { models: ['openai/gpt-4.1-nano'] }, { key: key.secret });
    expect(await response.json()).toMatchObject({ model: 'openai/gpt-4.1-nano' });
    const { attempts } = await chatOf(setup.app, key.record.id);
    expect(attempts).toMatchObject([
      { status: 500, model: MODEL },
      {
        status: 200,
        model: 'openai/gpt-4.1-nano',
        promptTokens: 10,
        completionTokens: 2,
        cost: '0.0000018',
      },
    ]);
    expect(attempts[0]).not.toHaveProperty('cost');
  });

  it('names the variable where the address of the provider is wrong', async () => {
    setup.upstream.answerWith((_request, response) => sendJson(response, 405, {}));
    const response = await postChat(setup.app, {});
    expect(response.status).toBe(502);
    expect(await response.text()).toContain(
      'OpenAI serves no chat completions at the address in OPENAI_BASE_URL (HTTP 405)',
    );
  });

  it('records how often its client has repeated the request', async () => {
    const key = await newKey();
    for (const count of ['2', '0', '-1', 'x'])
      await postChat(
        setup.app,
        {},
        { key: key.secret, headers: { 'user-agent': 'a', 'x-stainless-retry-count': count } },
      );
    const recorded = await chatsOf(setup.app, key.record.id);
    expect(recorded.map(({ requestContext }) => requestContext)).toEqual([
      { userAgent: 'a', retryCount: 2 },
      { userAgent: 'a' },
      { userAgent: 'a' },
      { userAgent: 'a' },
    ]);
  });

  it('is the error of the provider when no endpoint is left', async () => {
    setup.upstream.answerWith((_request, response) =>
      sendJson(response, 400, { error: { message: 'no such thing', code: 'x' } }),
    );
    const key = await newKey('1');
    const response = await postChat(setup.app, {}, { key: key.secret });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 400, metadata: { provider_name: 'OpenAI', raw: 'no such thing' } },
    });
    expect(response.headers.get('x-generation-id')).toMatch(/^gen-/);
    expect(await chatOf(setup.app, key.record.id)).toMatchObject({ status: 400, cost: 0n });
  });
});

describe('a stream', () => {
  it('has the content, one usage chunk and the mark of its end', async () => {
    const key = await newKey('1');
    const read = await streamChat(setup.app, {}, { key: key.secret });
    expect(read.status).toBe(200);
    expect(read.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(read.headers.get('x-accel-buffering')).toBe('no');
    expect(read.text).toBe('Hello');
    expect(read.events.at(-1)).toBe('[DONE]');
    expect(read.events.at(-2)).toMatchObject({
      id: read.headers.get('x-generation-id'),
      model: MODEL,
      choices: [{ index: 0, delta: { content: '' }, finish_reason: null }],
      usage: { prompt_tokens: 10, completion_tokens: 2, cost: 0.0000072 },
    });
    const withUsage = read.events.filter((event) => event !== '[DONE]' && event.usage !== undefined);
    expect(withUsage).toHaveLength(1);
    const [generation] = await chatsOf(setup.app, key.record.id);
    expect(generation).toMatchObject({
      status: 200,
      cost: costOf(10, 2),
      chat: { isStreamed: true, isCancelled: false, finishReason: 'stop', usageSource: 'reported' },
    });
    expect(generation?.chat?.timeToFirstTokenMs).toEqual(expect.any(Number));
  });

  it('counts cumulative usage once', async () => {
    const key = await newKey('1');
    const chunks = Array.from({ length: 40 }, (_value, index) => ({
      ...text('x'),
      usage: usage(10, index + 1),
    }));
    setup.upstream.answerWith(streamOf(...chunks, { ...delta({}, 'stop'), usage: usage(10, 40) }, '[DONE]'));
    const read = await streamChat(setup.app, {}, { key: key.secret });
    expect(read.events.filter((event) => event !== '[DONE]' && event.usage)).toHaveLength(1);
    expect((await chatOf(setup.app, key.record.id)).cost).toBe(costOf(10, 40));
  });

  it('ends with an error and costs nothing when the provider breaks it after its content', async () => {
    const key = await newKey('1');
    setup.upstream.answerWith(streamOf(text('a'), text('b')));
    const read = await streamChat(setup.app, {}, { key: key.secret });
    expect(read.events.at(-1)).toBe('[DONE]');
    expect(read.events.at(-2)).toMatchObject({
      choices: [{ finish_reason: 'error' }],
      error: { code: 502, metadata: { error_type: 'provider_unavailable', provider_name: 'OpenAI' } },
    });
    expect(await chatOf(setup.app, key.record.id)).toMatchObject({
      status: 502,
      cost: 0n,
      chat: { usageSource: 'none', finishReason: 'error' },
    });
  });

  it('comes from the next endpoint after a failure before its content, unless the request is wrong', async () => {
    const failWith = (code: number) =>
      setup.upstream.answerWith((request, response) => {
        if (request.body['model'] !== 'gpt-4.1-mini') return streamOf(...HELLO)(request, response);
        const error = { error: { code, message: 'not now' }, choices: [] };
        return streamOf(delta({ role: 'assistant' }), error)(request, response);
      });
    failWith(429);
    const key = await newKey();
    const models = { models: ['openai/gpt-4.1-nano'] };
    const read = await streamChat(setup.app, models, { key: key.secret });
    expect(read.text).toBe('Hello');
    expect(read.events[0]).toMatchObject({ model: 'openai/gpt-4.1-nano' });
    expect((await chatOf(setup.app, key.record.id)).attempts).toMatchObject([
      { status: 429 },
      { status: 200 },
    ]);
    failWith(400);
    setup.upstream.requests.splice(0);
    const refused = await postChat(setup.app, { stream: true, ...models });
    expect([refused.status, setup.upstream.requests.length]).toEqual([400, 1]);
    expect(refused.headers.get('content-type')).toContain('application/json');
  });

  it('has a usage chunk without choices only on request', async () => {
    const read = await streamChat(setup.app, { stream_options: { include_usage: true } });
    expect(read.events.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: 10 } });
    expect(setup.upstream.requests[0]?.body['stream_options']).toMatchObject({ include_usage: true });
  });

  it('keeps a reported usage of zero', async () => {
    const key = await newKey('1');
    setup.upstream.answerWith(streamOf(text('hi'), delta({}, 'stop'), usageOnly(0, 0), '[DONE]'));
    await streamChat(setup.app, {}, { key: key.secret });
    expect(await chatOf(setup.app, key.record.id)).toMatchObject({
      cost: 0n,
      promptTokens: 0,
      chat: { usageSource: 'reported' },
    });
  });

  it('is never continued by another endpoint after its first content', async () => {
    setup.upstream.answerWith(streamOf(...Array.from({ length: 5 }, () => text('x'))));
    const read = await streamChat(setup.app, { models: ['openai/gpt-4.1-nano'] });
    expect([read.text, setup.upstream.requests.length]).toEqual(['xxxxx', 1]);
  });

  it('is counted and flagged where the provider reports no usage', async () => {
    const key = await newKey('1');
    setup.upstream.answerWith(streamOf(text('Hello world'), delta({}, 'stop'), '[DONE]'));
    const read = await streamChat(setup.app, {}, { key: key.secret });
    const generation = await chatOf(setup.app, key.record.id);
    expect(generation.chat).toMatchObject({ usageSource: 'counted', completionTokens: 2 });
    expect(read.events.at(-2)).toMatchObject({ usage: { completion_tokens: 2 } });
  });
});

describe('a client that leaves', () => {
  it('cancels the upstream after three chunks and pays for the counted text', async () => {
    const key = await newKey('1');
    const leaving = new AbortController();
    let hasClosed: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => (hasClosed = resolve));
    setup.upstream.answerWith((_request, response) => {
      response.once('close', hasClosed);
      beginStream(response);
      for (const word of ['one', ' two', ' three']) sendEvent(response, text(word));
    });
    const response = await postChat(setup.app, { stream: true }, { key: key.secret, signal: leaving.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    leaving.abort();
    await closed;
    const generation = await chatOf(setup.app, key.record.id);
    expect(generation).toMatchObject({
      status: 200,
      errorType: null,
      chat: { isCancelled: true, usageSource: 'counted', completionTokens: 3, finishReason: null },
    });
    expect(generation.cost).toBe(costOf(generation.promptTokens, 3));
    expect(generation.cost).toBeGreaterThan(0n);
  });

  it('is recorded with 499 when it leaves before the headers', async () => {
    const key = await newKey('1');
    const leaving = new AbortController();
    let hasArrived: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => (hasArrived = resolve));
    setup.upstream.answerWith(() => hasArrived());
    const response = postChat(setup.app, { stream: true }, { key: key.secret, signal: leaving.signal });
    await arrived;
    leaving.abort();
    await expect(response).rejects.toThrow();
    expect(await chatOf(setup.app, key.record.id)).toMatchObject({
      status: 499,
      chat: { isCancelled: true, completionTokens: 0 },
    });
  });
});

describe('spend limits', () => {
  it('let exactly as many calls through as fit', async () => {
    const bound = costOf(274, 10);
    const key = await setup.app.createKey({ limit: 3n * bound });
    setup.upstream.answerWith(streamOf(text('x'), delta({}, 'stop'), usageOnly(274, 10), '[DONE]'));
    const calls = Array.from({ length: 12 }, () =>
      postChat(setup.app, { stream: true, max_tokens: 10 }, { key: key.secret }).then(async (response) => {
        await response.text();
        return response.status;
      }),
    );
    const statuses = await Promise.all(calls);
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(statuses.filter((status) => status === 402)).toHaveLength(9);
    expect(setup.upstream.requests).toHaveLength(3);
    const spent = (await chatsOf(setup.app, key.record.id)).reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
    expect(spent).toBe(3n * bound);
  });

  it('clamp a hostile output limit', async () => {
    const key = await newKey('1');
    const read = await streamChat(setup.app, { max_tokens: 1_000_000_000 }, { key: key.secret });
    expect(read.status).toBe(200);
    expect(setup.upstream.requests[0]?.body['max_completion_tokens']).toBe(32_768);
  });
});

describe('a request', () => {
  it('with a case twin reaches no provider', async () => {
    const response = await postChat(setup.app, { Max_Tokens: 5 });
    expect([response.status, setup.upstream.requests.length]).toEqual([400, 0]);
  });

  it('for an unknown model is 404, and without messages 400', async () => {
    expect((await postChat(setup.app, { model: 'openai/nothing' })).status).toBe(404);
    expect((await postChat(setup.app, { messages: [] })).status).toBe(400);
  });
});

it('serves local/echo without any provider key', async () => {
  const read = await streamChat(setup.app, { model: 'local/echo' });
  expect(read.text).not.toBe('');
  expect(read.events.at(-1)).toBe('[DONE]');
});
