// POST /chat/completions: who may call, in which order a request is checked, whose money and whose key a call uses, and what
// leaves in privacy mode.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parseUsd } from '../../../src/domain/spend/money.js';
import { chatOf, postChat, streamChat } from '../../support/upstreams/chat-upstream.js';
import {
  createDestination,
  DELIVERY_ENVIRONMENT,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { modelAt, PROMPT_PRICE } from '../../support/chat-providers/every-chat-provider.js';
import { startAppWithEveryChatProvider } from '../../support/chat-providers/every-chat-provider-app.js';
import type { EveryChatProviderApp } from '../../support/chat-providers/every-chat-provider-app.js';
import { eventually } from '../../support/eventually.js';
import { createCredential } from '../../support/requests/provider-credential.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

const INVALID = { messages: [] };
const UNKNOWN = { model: 'openai/nothing' };
const UNABLE = { model: modelAt('ollama'), n: 2 };

let setup: EveryChatProviderApp;
beforeAll(async () => {
  setup = await startAppWithEveryChatProvider({
    ...DELIVERY_ENVIRONMENT,
    MAX_BODY_BYTES: '10000',
    RATE_LIMIT_INFERENCE_PER_MINUTE: '100',
  });
});
afterEach(() => setup.reset());
afterAll(() => setup.close());

const statusOf = async (body: object, key?: string): Promise<number> =>
  (await postChat(setup.app, body, key === undefined ? {} : { key })).status;
/** A key that has spent its limit. */
const exhausted = async (): Promise<string> => (await setup.app.createKey({ limit: 1n })).secret;

describe('the checks of a request', () => {
  it('begin with the credential and its kind', async () => {
    expect(await statusOf(INVALID, 'sk-or-v1-nonsense')).toBe(401);
    expect(await statusOf(INVALID, setup.app.managementKey)).toBe(401);
    const large = { messages: [{ role: 'user', content: 'x'.repeat(20_000) }] };
    expect(await statusOf(large, 'sk-or-v1-nonsense')).toBe(401);
  });

  it('go on with the rate, the size, the syntax and the members', async () => {
    const { secret } = await setup.app.createKey();
    const large = { ...UNKNOWN, messages: [{ role: 'user', content: 'x'.repeat(20_000) }] };
    expect(await statusOf(large, secret)).toBe(413);
    expect(await statusOf({ ...UNKNOWN, ...INVALID }, secret)).toBe(400);
    const statuses: number[] = [];
    for (let calls = 0; calls < 110; calls++) statuses.push(await statusOf(large, secret));
    expect(statuses.at(-1)).toBe(429);
    expect(new Set(statuses)).toEqual(new Set([413, 429]));
  });

  it('go on with the model, then with what its endpoints can do, then with the money', async () => {
    const key = await exhausted();
    expect(await statusOf({ ...UNKNOWN, n: 2 }, key)).toBe(404);
    const unable = await postChat(setup.app, UNABLE, { key });
    expect([unable.status, JSON.stringify(await unable.json())]).toEqual([
      400,
      expect.stringContaining('n: the endpoint gives one choice only'),
    ]);
    expect(await statusOf({ model: modelAt('openai') }, key)).toBe(402);
  });

  it.each(['only', 'order', 'ignore'])('name a region in provider.%s that no endpoint has', async (list) => {
    const provider = { [list]: ['openai', 'azure/swedencentral'] };
    const response = await postChat(setup.app, { model: modelAt('openai'), provider });
    expect([response.status, JSON.stringify(await response.json())]).toEqual([
      400,
      expect.stringContaining(`provider.${list}[1]: no endpoint has the tag azure/swedencentral`),
    ]);
  });

  it('name a tool_choice of an unknown word where there are no tools', async () => {
    const response = await postChat(setup.app, { model: modelAt('openai'), tool_choice: 'always' });
    expect([response.status, JSON.stringify(await response.json())]).toEqual([
      400,
      expect.stringContaining('tool_choice: must be none, auto, required'),
    ]);
  });

  it('end before any provider is called', () => {
    expect(setup.providers.stubOf('openai').requests).toHaveLength(0);
    expect(setup.providers.stubOf('ollama').requests).toHaveLength(0);
  });
});

describe('a budget of the workspace', () => {
  it('refuses a call above it with 403, and lets a call within it through', async () => {
    const { accountId, workspaceId, managementKey, apiKey } = await setup.app.createAccount();
    const setBudget = (limit: number) =>
      setup.app.http
        .put('/api/v1/workspaces/default/budgets/lifetime')
        .set('authorization', `Bearer ${managementKey}`)
        .send({ limit_usd: limit })
        .expect(200);
    await setBudget(0.000_001);
    const refused = await postChat(setup.app, { model: modelAt('openai') }, { key: apiKey });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { metadata: { limit_source: 'workspace' } } });
    await setBudget(1);
    const { secret, record } = await setup.app.createKey({ accountId, workspaceId });
    await eventually(
      () => statusOf({ model: modelAt('openai'), max_tokens: 10 }, secret),
      (status) => status === 200,
    );
    expect((await chatOf(setup.app, record.id)).cost).toBe(9n * PROMPT_PRICE + 4n * PROMPT_PRICE);
    expect(setup.providers.stubOf('openai').requests.at(-1)?.body).toMatchObject({
      max_completion_tokens: 10,
    });
  });
});

describe('an own provider key', () => {
  const OWN = 'own-key-of-the-workspace';

  it('serves a key whose limit is spent, and is part of no answer', async () => {
    const key = await setup.app.createKey({ limit: parseUsd('0.000001') });
    const credential = await createCredential(setup.app, { apiKey: OWN, provider: 'together' });
    const stub = setup.providers.stubOf('together');
    const ask = () => postChat(setup.app, { model: modelAt('together') }, { key: key.secret });
    // The stub knows the shared key alone, and refuses the own one.
    const refused = await eventually(ask, ({ status }) => status !== 402);
    expect(stub.requests.map(({ headers }) => headers.authorization)).toContain(`Bearer ${OWN}`);
    const text = await refused.text();
    expect(text).not.toContain(OWN);
    await setup.app.sql('DELETE FROM provider_credentials WHERE id = $1', [credential.id]);
  });

  it('is not charged to a key whose limit leaves own keys out', async () => {
    const key = await setup.app.createKey({ limit: parseUsd('1') });
    // The same text as the shared key: the stub takes it, and routing knows whose it is.
    const credential = await createCredential(setup.app, {
      apiKey: 'key-of-deepinfra',
      provider: 'deepinfra',
    });
    const read = await eventually(
      () => streamChat(setup.app, { model: modelAt('deepinfra') }, { key: key.secret }),
      ({ events }) => JSON.stringify(events).includes('"is_byok":true'),
    );
    expect(read.events.at(-2)).toMatchObject({
      usage: { cost: 0, is_byok: true, cost_details: { upstream_inference_cost: 0.000_013 } },
    });
    await setup.app.sql('DELETE FROM provider_credentials WHERE id = $1', [credential.id]);
  });
});

describe('privacy mode', () => {
  it('withholds messages, answers, tools and names, and keeps counts and the finish reason', async () => {
    const receivers = await Promise.all([startReceiver(traceCollector), startReceiver(traceCollector)]);
    const [open, closed] = await Promise.all(
      receivers.map(({ origin }, index) =>
        createDestination(setup.app, { url: origin }, { privacyMode: index === 1 }),
      ),
    );
    const read = await streamChat(setup.app, {
      model: modelAt('openai'),
      messages: [{ role: 'user', content: 'canary of the prompt' }],
      tools: [{ type: 'function', function: { name: 'canary_of_a_tool' } }],
      stop: ['canary of a stop'],
    });
    expect(read.text).toBe('Hello there');
    await untilDelivered(setup.app, open?.id ?? '', 1);
    await untilDelivered(setup.app, closed?.id ?? '', 1);
    const [full, reduced] = receivers.map(({ requests }) =>
      requests.map(({ bytes }) => bytes.toString('utf8')).join('\n'),
    );
    for (const word of ['canary of the prompt', 'canary_of_a_tool', 'canary of a stop', 'Hello there']) {
      expect(full).toContain(word);
      expect(reduced).not.toContain(word);
    }
    for (const word of ['gen_ai.usage.output_tokens', 'gen_ai.response.finish_reasons'])
      expect(reduced).toContain(word);
    await Promise.all(receivers.map((receiver) => receiver.close()));
  });
});
