// Clients that leave streams and answers at random moments: afterwards the process holds what it held before, and every call
// is recorded and paid (docs/contract.md#chat-disconnects).
import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ChatMetrics } from '../../src/chat/chat-metrics.js';
import { LoadShedder } from '../../src/http/load-shedding/load-shedder.js';
import { chatsOf, postChat } from '../support/upstreams/chat-upstream.js';
import { COMPLETION_PRICE, modelAt, PROMPT_PRICE } from '../support/chat-providers/every-chat-provider.js';
import { startAppWithEveryChatProvider } from '../support/chat-providers/every-chat-provider-app.js';
import type { EveryChatProviderApp } from '../support/chat-providers/every-chat-provider-app.js';
import { inPieces } from '../support/chat-providers/stream-script.js';
import { eventually } from '../support/eventually.js';
import { retainedMemory } from '../support/memory.js';
import { reportCounts, seededRandom, share, TEST_TIMEOUT } from '../support/fuzz/budget.js';

const PARALLEL = 20;
const WIRES = ['openai', 'mistral', 'ollama', 'openai-compatible'] as const;
// Bytes: caches and what the database's client keeps.
const ALLOWED_GROWTH = 15 * 2 ** 20;
const ALLOWED_SOCKETS = 100;
/** The bound of "hi": its bytes and the overhead of a template with one message. */
const PROMPT_BOUND = 274n;

const counts = { aborts: 0, complete: 0 };
let setup: EveryChatProviderApp;
beforeAll(async () => {
  setup = await startAppWithEveryChatProvider({
    CHAT_ENDPOINT_CONCURRENCY: String(2 * PARALLEL),
    RATE_LIMIT_INFERENCE_PER_MINUTE: '0',
  });
  for (const wire of WIRES) setup.providers.stubOf(wire).streamWith(inPieces(7));
});
afterAll(async () => {
  reportCounts('chats that are left', counts);
  await setup.close();
});

const sockets = (): number =>
  process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;

/** Leaves after so many bytes, or so many turns of the event loop, whichever comes first. */
function leave(key: string, body: object, bytes: number, turns: number): Promise<void> {
  const { hostname, port } = new URL(setup.app.origin);
  return new Promise((resolve) => {
    const call = request({
      hostname,
      port,
      method: 'POST',
      path: '/api/v1/chat/completions',
      agent: false,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    let read = 0;
    call.on('error', () => undefined);
    call.on('close', () => resolve());
    call.on('response', (response) => {
      response.on('error', () => undefined);
      response.on('data', (piece: Buffer) => {
        read += piece.length;
        if (read >= bytes) call.destroy();
      });
      response.on('end', () => counts.complete++);
    });
    call.end(JSON.stringify(body));
    let left = turns;
    const wait = (): void => {
      if (left-- > 0) setImmediate(wait);
      else call.destroy();
    };
    wait();
  });
}

/** A function of its own: the records themselves would count as memory that is left. */
async function recordedOf(apiKeyId: string) {
  const records = await chatsOf(setup.app, apiKeyId);
  return {
    spent: records.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n),
    hasCancelled: records.some(({ chat }) => chat?.isCancelled),
  };
}

it(
  'leave no permit, no reservation, no socket and no memory behind',
  async () => {
    const random = seededRandom();
    const upTo = (most: number): number => Math.floor(random() * (most + 1));
    const total = share(1);
    const key = await setup.app.createKey({ limit: 10n ** 15n });
    const abort = async (): Promise<void> => {
      counts.aborts++;
      const wire = WIRES[upTo(WIRES.length - 1)] ?? 'openai';
      const body = {
        model: modelAt(wire),
        messages: [{ role: 'user', content: 'hi' }],
        stream: upTo(4) > 0,
        max_tokens: 10,
      };
      await leave(key.secret, body, upTo(2_500), upTo(400));
    };
    const rounds = async (calls: number): Promise<void> => {
      for (let done = 0; done < calls; done += PARALLEL)
        await Promise.all(Array.from({ length: Math.min(PARALLEL, calls - done) }, abort));
    };
    const { openStreams, openDrains } = setup.app.application.get(ChatMetrics);
    const shedder = setup.app.application.get(LoadShedder, { strict: false });
    const settled = async (): Promise<void> => {
      await shedder.whenIdle();
      await eventually(
        async () => [await openStreams.get(), await openDrains.get()].map(({ values }) => values[0]?.value),
        (open) => open.every((value) => value === 0),
      );
    };
    // After these, code is compiled and buffers have grown.
    await rounds(Math.min(1_000, total));
    await settled();
    const stubs = WIRES.map((wire) => setup.providers.stubOf(wire));
    for (const stub of stubs) stub.forget();
    const before = { memory: retainedMemory(), sockets: sockets() };
    await rounds(total);
    await settled();
    const { spent, hasCancelled } = await recordedOf(key.record.id);
    expect(hasCancelled).toBe(true);
    // A reservation that is left would keep a part of the limit from one call that takes all of it.
    await setup.app.sql('UPDATE api_keys SET limit_amount = $1::numeric / 1e12 WHERE id = $2', [
      String(spent + PROMPT_BOUND * PROMPT_PRICE + 10n * COMPLETION_PRICE),
      key.record.id,
    ]);
    const model = modelAt('openai');
    const last = await postChat(setup.app, { model, max_tokens: 10 }, { key: key.secret });
    expect(last.status).toBe(200);
    for (const stub of stubs) stub.forget();
    expect(sockets() - before.sockets).toBeLessThan(ALLOWED_SOCKETS);
    expect(retainedMemory() - before.memory).toBeLessThan(ALLOWED_GROWTH);
  },
  TEST_TIMEOUT,
);
