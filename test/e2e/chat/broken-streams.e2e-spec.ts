// Streams of providers that break, hang or never end, and clients that do not read (docs/contract.md#chat-streams).
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ChatMetrics } from '../../../src/chat/chat-metrics.js';
import type { TestApp } from '../../support/app/app.js';
import { chatOf, postChat, streamChat } from '../../support/upstreams/chat-upstream.js';
import { modelAt } from '../../support/chat-providers/every-chat-provider.js';
import { startAppWithEveryChatProvider } from '../../support/chat-providers/every-chat-provider-app.js';
import type { ChatWireName } from '../../support/chat-providers/every-chat-provider.js';
import type { EveryChatProviderApp } from '../../support/chat-providers/every-chat-provider-app.js';
import {
  after,
  EARLY_USAGE,
  ENDLESS_LINE,
  errorEvent,
  inPieces,
  LATE_USAGE,
  REPEATED_USAGE,
  STALL_AFTER_USAGE,
  WITHOUT_USAGE,
} from '../../support/chat-providers/stream-script.js';
import type { StreamScript } from '../../support/chat-providers/stream-script.js';
import { eventually } from '../../support/eventually.js';
import { peakMemoryOf } from '../../support/memory.js';

const MEBIBYTE = 2 ** 20;

let setup: EveryChatProviderApp;
beforeAll(async () => {
  setup = await startAppWithEveryChatProvider({
    // A permit that a call keeps would block the next call to its endpoint.
    CHAT_ENDPOINT_CONCURRENCY: '1',
  });
});
afterEach(() => setup.reset());
afterAll(() => setup.close());

const newKey = () => setup.app.createKey({ limit: 10n ** 12n });
const script = (wire: ChatWireName, steps: StreamScript): void =>
  setup.providers.stubOf(wire).streamWith(steps);
const cutsOf = (wire: ChatWireName, count: number, of = setup): Promise<number> =>
  eventually(
    () => Promise.resolve(of.providers.stubOf(wire).cut),
    (cut) => cut === count,
  );

/** A service whose time-out is the expected result: no other call may meet it. */
async function withTimeoutOf(
  environment: Readonly<Record<string, string>>,
  run: (impatient: EveryChatProviderApp) => Promise<void>,
): Promise<void> {
  const impatient = await startAppWithEveryChatProvider(environment);
  try {
    await run(impatient);
  } finally {
    await impatient.close();
  }
}

it('a stream that stalls after an early report of usage ends with 524, and costs nothing', async () => {
  await withTimeoutOf({ CHAT_IDLE_TIMEOUT_MS: '1000' }, async ({ app, providers }) => {
    providers.stubOf('openai').streamWith(STALL_AFTER_USAGE);
    const read = await streamChat(app, { model: modelAt('openai') });
    expect([read.text, read.events.at(-1)]).toEqual(['Hello', '[DONE]']);
    expect(read.events.at(-2)).toMatchObject({
      choices: [{ finish_reason: 'error' }],
      error: { code: 524 },
      usage: { cost: 0 },
    });
    expect(await chatOf(app, app.key.id)).toMatchObject({ status: 524, cost: 0n });
  });
});

describe('a stream that breaks after its content', () => {
  it.each([
    ['an error event', after(2, errorEvent(503), 'end')],
    ['a lost connection', after(2, 'cut')],
    ['an end without a finish reason', after(2, 'end')],
    ['invalid JSON', after(2, { event: '{"choices":[' }, 'end')],
  ] as const)('by %s ends with one error, [DONE] and no cost', async (_title, steps) => {
    const key = await newKey();
    script('together', steps);
    const read = await streamChat(setup.app, { model: modelAt('together') }, { key: key.secret });
    expect(read.status).toBe(200);
    expect(read.text).toBe('Hello');
    const errors = read.events.filter((event) => event !== '[DONE]' && event.error);
    expect(errors).toHaveLength(1);
    expect(read.events.slice(-2)).toEqual([errors[0], '[DONE]']);
    expect(await chatOf(setup.app, key.record.id)).toMatchObject({
      cost: 0n,
      chat: { usageSource: 'none', finishReason: 'error' },
    });
  });
});

describe('usage', () => {
  it.each([
    ['is counted where the stream has none', WITHOUT_USAGE, 'counted'],
    ['is the last of repeated reports', REPEATED_USAGE, 'reported'],
    ['may come before the finish reason', EARLY_USAGE, 'reported'],
    ['may come after the finish reason', LATE_USAGE, 'reported'],
  ] as const)('%s', async (_title, steps, usageSource) => {
    for (const wire of ['openai', 'mistral', 'google'] as const) {
      const key = await newKey();
      script(wire, steps);
      const { events } = await streamChat(setup.app, { model: modelAt(wire) }, { key: key.secret });
      const withUsage = events.filter((event) => event !== '[DONE]' && event.usage !== undefined);
      expect(withUsage).toEqual([events.at(-2)]);
      expect(withUsage[0]).toMatchObject({ usage: { completion_tokens: 2 } });
      expect(await chatOf(setup.app, key.record.id)).toMatchObject({
        chat: { usageSource, completionTokens: 2, finishReason: 'stop' },
      });
    }
  });
});

it('a line without an end is 502 at 8 MiB, and its connection is closed', async () => {
  const { cut } = setup.providers.stubOf('deepinfra');
  script('deepinfra', ENDLESS_LINE);
  const peak = await peakMemoryOf(async () => {
    const read = await streamChat(setup.app, { model: modelAt('deepinfra') });
    expect(read.events.at(-2)).toMatchObject({ error: { code: 502 } });
    await cutsOf('deepinfra', cut + 1);
  });
  expect(peak).toBeLessThan(128 * MEBIBYTE);
});

it('a text cut at every byte arrives as it was sent', async () => {
  const content = 'né 🙂 \u2028"\\';
  const stub = setup.providers.stubOf('vllm');
  stub.answerWith({
    deltas: [{ role: 'assistant', content }, { content }],
    finishReason: 'stop',
    usage: { prompt_tokens: 9, completion_tokens: 8 },
  });
  stub.streamWith(inPieces(1));
  const read = await streamChat(setup.app, { model: modelAt('vllm') });
  expect([read.text, read.events.at(-1)]).toEqual([content + content, '[DONE]']);
});

describe('a client that reads nothing', () => {
  /** 200 MB. */
  const FLOOD: StreamScript = ({ chunks, finishes, usageChunk }) => {
    const [chunk] = chunks;
    const text = { ...chunk, choices: [{ index: 0, delta: { content: 'x'.repeat(65_000) } }] };
    const bytes = Buffer.from(`data: ${JSON.stringify(text)}\n\n`);
    return [
      ...Array.from({ length: 3_200 }, () => ({ bytes })),
      ...finishes.map((event) => ({ event })),
      ...(usageChunk ? [{ event: usageChunk }] : []),
      { event: '[DONE]' },
      'end',
    ];
  };

  /** Sends the request and reads nothing of its answer. */
  function askWithoutReading(app: TestApp, model: string): Promise<Socket> {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], stream: true });
    const { hostname, port } = new URL(app.origin);
    return new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.pause();
        socket.write(
          `POST /api/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.apiKey}\r\n` +
            `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
        );
        resolve(socket);
      });
      socket.on('error', () => undefined);
    });
  }

  it('pauses the upstream, is cut after a while without progress, and pays for the counted text', async () => {
    await withTimeoutOf({ CHAT_SLOW_READER_TIMEOUT_MS: '1000' }, async (impatient) => {
      const { app, providers } = impatient;
      const { cut } = providers.stubOf('openai');
      providers.stubOf('openai').streamWith(FLOOD);
      let socket: Socket | undefined;
      const peak = await peakMemoryOf(async () => {
        socket = await askWithoutReading(app, modelAt('openai'));
        const generation = await chatOf(app, app.key.id);
        expect(generation).toMatchObject({
          status: 200,
          chat: { isCancelled: true, usageSource: 'counted' },
        });
        expect(generation.cost).toBeGreaterThan(0n);
      });
      expect(peak).toBeLessThan(100 * MEBIBYTE);
      await cutsOf('openai', cut + 1, impatient);
      socket?.destroy();
    });
  });
});

describe('a client that leaves an answer without a stream', () => {
  async function leave(wire: ChatWireName): Promise<string> {
    const key = await newKey();
    const stub = setup.providers.stubOf(wire);
    stub.holdAnswers();
    const leaving = new AbortController();
    const asked = stub.requests.length;
    const response = postChat(
      setup.app,
      { model: modelAt(wire) },
      { key: key.secret, signal: leaving.signal },
    );
    await eventually(
      () => Promise.resolve(stub.requests.length),
      (count) => count > asked,
    );
    leaving.abort();
    await expect(response).rejects.toThrow();
    return key.record.id;
  }
  it('ends the work of a local server at once, and frees its permit', async () => {
    const { cut } = setup.providers.stubOf('ollama');
    const key = await leave('ollama');
    await cutsOf('ollama', cut + 1);
    expect(await chatOf(setup.app, key)).toMatchObject({
      status: 499,
      chat: { isCancelled: true, completionTokens: 0 },
    });
    setup.providers.stubOf('ollama').releaseAnswers();
    expect((await postChat(setup.app, { model: modelAt('ollama') })).status).toBe(200);
  });

  it('pays the whole answer of a provider that bills it anyway', async () => {
    const { cut } = setup.providers.stubOf('openai');
    const key = await leave('openai');
    const { openDrains } = setup.app.application.get(ChatMetrics);
    await eventually(
      () => openDrains.get(),
      ({ values }) => values[0]?.value === 1,
    );
    setup.providers.stubOf('openai').releaseAnswers();
    expect(await chatOf(setup.app, key)).toMatchObject({
      status: 499,
      promptTokens: 9,
      chat: { isCancelled: true, usageSource: 'reported', completionTokens: 2 },
    });
    expect(setup.providers.stubOf('openai').cut).toBe(cut);
  });
});
