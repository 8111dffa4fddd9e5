// The reservation of a chat: its size, and its price (docs/contract.md#chat-spend).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseUsd } from '../../../src/domain/spend/money.js';
import type { TestApp } from '../../support/app/app.js';
import { createTestApp } from '../../support/app/app.js';
import { withCatalogueFile } from '../../support/catalogue/catalogue-file.js';
import { MODEL, postChat } from '../../support/upstreams/chat-upstream.js';
import { CHAT_STUBS } from '../../support/chat-providers/index.js';
import { startChatStub } from '../../support/chat-providers/chat-stub.js';
import type { RunningChatStub } from '../../support/chat-providers/chat-stub.js';
import { eventually } from '../../support/eventually.js';
import { listRefusals, recordRefusals } from '../../support/requests/refusals.js';

/** More expensive by ten times above 1,000 tokens of a prompt. */
const TIERED = {
  id: 'in-house/tiered',
  created_at: '2026-01-01',
  context_length: 100_000,
  endpoints: [
    {
      provider: 'openai',
      upstream_model: 'gpt-4o',
      prices: [
        {
          effective_from: '2026-01-01',
          source: 'a test',
          usd_per_million_tokens: { prompt: 1, completion: 2 },
          tiers: [{ min_prompt_tokens: 1_000, usd_per_million_tokens: { prompt: 10, completion: 20 } }],
        },
      ],
      data_policy: { retains_prompts: false, trains: false },
    },
  ],
};

const SMALL = {
  id: 'in-house/small',
  created_at: '2026-01-01',
  context_length: 8_192,
  endpoints: [
    {
      provider: 'openai',
      upstream_model: 'gpt-4',
      prices: [
        {
          effective_from: '2026-01-01',
          source: 'a test',
          usd_per_million_tokens: { prompt: 1, completion: 2 },
        },
      ],
      data_policy: { retains_prompts: false, trains: false },
    },
  ],
};

let stub: RunningChatStub;
let app: TestApp;
beforeAll(async () => {
  stub = await startChatStub(CHAT_STUBS.openai);
  app = await withCatalogueFile(JSON.stringify({ chat_models: [TIERED, SMALL] }), (file) =>
    createTestApp({
      environment: {
        OPENAI_BASE_URL: stub.baseUrl,
        OPENAI_API_KEY: CHAT_STUBS.openai.apiKey,
        CATALOGUE_FILE: file,
      },
    }),
  );
});
afterAll(async () => {
  await app.close();
  await stub.close();
});

describe('a call without a limit of its output', () => {
  it('reserves and sends 32,768 tokens, and not the whole limit of its key', async () => {
    // Room for 19 reservations of $0.0525384.
    const { secret } = await app.createKey({ limit: parseUsd('1') });
    stub.holdAnswers();
    const before = stub.requests.length;
    const calls = Array.from({ length: 15 }, () => postChat(app, { model: MODEL }, { key: secret }));
    await eventually(
      () => Promise.resolve(stub.requests.length - before),
      (count) => count === 15,
    );
    expect(stub.requests.at(-1)?.body).toMatchObject({ max_completion_tokens: 32_768 });
    stub.releaseAnswers();
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('sends none to a context without room for it, and reserves all that the context can give', async () => {
    // $0.000284 of the prompt's bound, and 8,191 tokens for $0.016382.
    const { secret } = await app.createKey({ limit: parseUsd('0.0167') });
    const { status } = await postChat(app, { model: SMALL.id }, { key: secret });
    expect(status).toBe(200);
    expect(stub.requests.at(-1)?.body).not.toHaveProperty('max_completion_tokens');
    const { secret: poorer } = await app.createKey({ limit: parseUsd('0.0165') });
    expect((await postChat(app, { model: SMALL.id }, { key: poorer })).status).toBe(402);
  });
});

describe('a refused call', () => {
  it('without a limit of its output is listed with the longest answer that fits, which is then served', async () => {
    const { secret, record } = await app.createKey({ limit: parseUsd('0.01') });
    const refused = await postChat(app, { model: MODEL }, { key: secret });
    expect(refused.status).toBe(402);
    const { error } = (await refused.json()) as { error: { metadata: Record<string, unknown> } };
    await recordRefusals(app);
    const ofKey = () => listRefusals(app, `?api_key_hash=${record.hash}`);
    const [listed] = await ofKey();
    expect(listed?.affordable_output_tokens).toBe(error.metadata['affordable_output_tokens']);
    const tokens = Number(listed?.affordable_output_tokens);
    expect(tokens).toBeGreaterThan(0);
    // A limit of the caller's own is nothing to advise.
    expect((await postChat(app, { model: MODEL, max_tokens: tokens + 1 }, { key: secret })).status).toBe(402);
    await recordRefusals(app);
    const advised = (await ofKey()).map((one) => one.affordable_output_tokens);
    // Both are of one moment of the test's clock.
    expect(new Set(advised)).toEqual(new Set([null, tokens]));
    expect((await postChat(app, { model: MODEL, max_tokens: tokens }, { key: secret })).status).toBe(200);
  });
});

describe('a limit of the caller above the context', () => {
  it('goes upstream as it is, and reserves no more than the context', async () => {
    const { secret } = await app.createKey({ limit: parseUsd('0.0167') });
    const { status } = await postChat(app, { model: SMALL.id, max_tokens: 100_000 }, { key: secret });
    expect(status).toBe(200);
    expect(stub.requests.at(-1)?.body).toMatchObject({ max_completion_tokens: 100_000 });
  });
});

describe('a prompt above a tier of the price', () => {
  const prompt = (characters: number) => ({
    model: TIERED.id,
    messages: [{ role: 'user', content: 'x '.repeat(characters / 2) }],
    max_tokens: 10,
  });

  it('is reserved at the price of the tier', async () => {
    // A prompt of 2,000 bytes: $0.0023 at the list price, $0.023 above the tier.
    const { secret } = await app.createKey({ limit: parseUsd('0.01') });
    expect((await postChat(app, prompt(500), { key: secret })).status).toBe(200);
    const refused = await postChat(app, prompt(2_000), { key: secret });
    expect(refused.status).toBe(402);
    const { secret: richer } = await app.createKey({ limit: parseUsd('0.03') });
    expect((await postChat(app, prompt(2_000), { key: richer })).status).toBe(200);
  });
});
