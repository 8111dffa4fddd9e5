// The rows of docs/contract.md#endings that embeddings have: an answer comes whole, and a call whose caller leaves goes on.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withCatalogueFile } from '../../support/catalogue/catalogue-file.js';
import type { TestApp } from '../../support/app/app.js';
import { healthOf } from '../../support/chat/endings.js';
import { eventually } from '../../support/eventually.js';
import { embed, startWithUpstream } from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { chatsOf } from '../../support/upstreams/chat-upstream.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';
import type { StubHandler } from '../../support/upstreams/stub-upstream.js';

// Picodollars a token.
const PRICE = 1_000_000n;
const REPORTED = 7;
const good: StubHandler = (_request, response) =>
  sendJson(response, 200, {
    data: [{ object: 'embedding', index: 0, embedding: [0.6, 0.8] }],
    usage: { prompt_tokens: REPORTED, total_tokens: REPORTED },
  });
const silent: StubHandler = () => undefined;
const busy: StubHandler = (_request, response) => sendJson(response, 503, {});
/** A bill for an answer that cannot be used. */
const broken: StubHandler = (_request, response) =>
  sendJson(response, 200, { data: [], usage: { prompt_tokens: REPORTED, total_tokens: REPORTED } });

/** Far more than one vector takes. */
const large: StubHandler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const padding = Buffer.alloc(1_048_576, ' ');
  response.on('error', () => undefined);
  const send = (left: number): void => {
    if (response.destroyed) return;
    if (left === 0) response.end('{}');
    else response.write(padding, () => send(left - 1));
  };
  send(64);
};

let used = 0;
const handlers = new Map<string, StubHandler>();

/** `beside`: runs while the file of the catalogue is there. */
async function start(
  environment: Readonly<Record<string, string>>,
  beside: (app: TestApp) => Promise<void> = () => Promise.resolve(),
): Promise<Setup> {
  const models = Array.from({ length: 20 }, (_value, index) => ({
    id: `endings/embedding-${index}`,
    created_at: '2026-01-01',
    native_dimensions: 2,
    context_length: 8_192,
    endpoints: ['a', 'b', 'c'].map((name) => ({
      provider: 'openai',
      tag: `openai/${name}`,
      upstream_model: `${name}-${index}`,
      max_inputs_per_call: 256,
      max_tokens_per_input: 8_192,
      takes_dimensions: false,
      prices: [{ effective_from: '2026-01-01', usd_per_million_tokens: 1, source: 'a test' }],
      data_policy: { retains_prompts: false, trains: false },
    })),
  }));
  const started = await withCatalogueFile(JSON.stringify({ models }), async (file) => {
    const setup = await startWithUpstream({ CATALOGUE_FILE: file, PROVIDER_RETRIES: '0', ...environment });
    await beside(setup.app);
    return setup;
  });
  started.upstream.answerWith((request, response) =>
    handlers.get(String(request.body['model']))?.(request, response),
  );
  return started;
}

/** `answers`: of the endpoints in their order. `through`: the replica that is called. */
async function run({ app, upstream }: Setup, answers: readonly StubHandler[], through: TestApp = app) {
  const index = used++;
  const model = `endings/embedding-${index}`;
  for (const [at, name] of ['a', 'b', 'c'].entries()) handlers.set(`${name}-${index}`, answers[at] ?? silent);
  const key = await app.createKey({ limit: 10n ** 12n });
  const order = ['openai/a', 'openai/b', 'openai/c'];
  const response = await embed(through, { model, input: 'hi', provider: { order } }, key.secret);
  const [generation] = await eventually(
    () => chatsOf(app, key.record.id),
    ({ length }) => length === 1,
  );
  const tried = upstream.requests.filter(({ body }) => String(body['model']).endsWith(`-${index}`)).length;
  return {
    response,
    generation: generation!,
    tried,
    health: await healthOf(through, model, 'openai/a'),
    index,
  };
}

async function unpaidOf({ app }: Setup, index: number, reason: string): Promise<number> {
  const { text } = await app.http.get('/metrics');
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('signalbox_unpaid_upstream_usd_total{'))
    .filter((line) => line.includes(`-${index}",reason="${reason}"`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

describe('an ending of an embeddings call', () => {
  let setup: Setup;
  let replica: TestApp;
  beforeAll(async () => {
    setup = await start({}, async (app) => {
      replica = await app.startReplica();
    });
  });
  afterAll(async () => {
    await replica.close();
    await setup.close();
  });

  it.each([
    ['one replica', 0],
    ['a second replica', 1],
  ])(
    'of a complete one through %s is charged as reported, and is a success of its endpoint',
    async (_of, index) => {
      const outcome = await run(setup, [good], [setup.app, replica][index]);
      expect(outcome).toMatchObject({
        generation: { cost: BigInt(REPORTED) * PRICE },
        health: 100,
        tried: 1,
      });
    },
  );

  it('by a failure moves on, pays the endpoint that answers, and leaves a reported bill unpaid', async () => {
    const outcome = await run(setup, [broken, busy, good]);
    expect(outcome).toMatchObject({
      generation: { cost: BigInt(REPORTED) * PRICE, upstreamCost: BigInt(2 * REPORTED) * PRICE },
      health: 0,
      tried: 3,
    });
    expect(await unpaidOf(setup, outcome.index, 'broken_answer')).toBeCloseTo(REPORTED / 1e6, 12);
  });

  it.each([
    ['one replica', 0],
    ['a second replica', 1],
  ])('by an answer that is too large, through %s, is a failure of its provider', async (_of, index) => {
    const outcome = await run(setup, [large, good], [setup.app, replica][index]);
    expect(outcome).toMatchObject({
      generation: { cost: BigInt(REPORTED) * PRICE, upstreamCost: BigInt(REPORTED) * PRICE },
      health: 0,
      tried: 2,
    });
  });

  it('does not come with the end of its caller: the call goes on and is charged', async () => {
    const { app, upstream } = setup;
    const index = used++;
    let answer = (): void => undefined;
    for (const name of ['a', 'b', 'c'])
      handlers.set(`${name}-${index}`, (request, response) => {
        answer = () => void good(request, response);
      });
    const key = await app.createKey({ limit: 10n ** 12n });
    const leaving = new AbortController();
    const before = upstream.requests.length;
    const posting = fetch(`${app.baseUrl}/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key.secret}` },
      body: JSON.stringify({
        model: `endings/embedding-${index}`,
        input: 'hi',
        provider: { order: ['openai/a'] },
      }),
      signal: leaving.signal,
    }).catch(() => null);
    await eventually(
      () => Promise.resolve(upstream.requests.length),
      (count) => count > before,
    );
    leaving.abort();
    await posting;
    answer();
    const [generation] = await eventually(
      () => chatsOf(app, key.record.id),
      ({ length }) => length === 1,
    );
    expect(generation).toMatchObject({ status: 200, cost: BigInt(REPORTED) * PRICE });
    expect(await healthOf(app, `endings/embedding-${index}`, 'openai/a')).toBe(100);
  });
});

describe('an embeddings call whose provider does not answer', () => {
  it('in time tries one other endpoint, costs nothing, must not be repeated, and leaves the work unpaid', async () => {
    const setup = await start({ PROVIDER_TIMEOUT_MS: '500' });
    const outcome = await run(setup, [silent, silent, good]);
    const { response, generation, index } = outcome;
    expect(outcome).toMatchObject({ tried: 2, health: 0, generation: { cost: 0n } });
    expect([response.status, response.headers['x-should-retry']]).toEqual([524, 'false']);
    expect(generation.attempts.map(({ errorType }) => errorType)).toEqual(['own_timeout', 'own_timeout']);
    expect(generation.upstreamCost).toBeGreaterThan(0n);
    const unpaid = await unpaidOf(setup, index, 'ended_here');
    expect(unpaid).toBeCloseTo(Number(generation.upstreamCost) / 1e12, 12);
    await setup.close();
  });

  it('until its deadline costs nothing, says nothing of the endpoint, and leaves the work unpaid', async () => {
    const setup = await start({ OPERATION_DEADLINE_MS: '1000' });
    const outcome = await run(setup, [silent, good]);
    const { response, generation, index } = outcome;
    expect(outcome).toMatchObject({ tried: 1, health: null, generation: { cost: 0n } });
    expect([response.status, response.headers['x-should-retry']]).toEqual([408, 'false']);
    expect(generation.attempts).toMatchObject([{ errorType: 'own_deadline' }]);
    expect(await unpaidOf(setup, index, 'ended_here')).toBeGreaterThan(0);
    await setup.close();
  });
});
