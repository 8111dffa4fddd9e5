// The models that providers list (docs/contract.md#discovery): GET and POST /providers/{slug}/models, and the background work.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ProviderModelsDto } from '../../../src/models/dto/provider-models.dto.js';
import { PROVIDERS } from '../../../src/providers/index.js';
import { modelListOf } from '../../../src/providers/shared/provider.js';
import { ModelDiscovery } from '../../../src/upkeep/model-discovery.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { makeOperator } from '../../support/catalogue/operator-apps.js';
import { LISTED_VENDORS, VENDOR_KEY } from '../../support/discovery/model-lists.js';
import type { ListedVendor } from '../../support/discovery/model-lists.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { expectError } from '../../support/requests/error-shape.js';
import { sendJson, startStubUpstream } from '../../support/upstreams/stub-upstream.js';
import type { StubHandler, StubUpstream } from '../../support/upstreams/stub-upstream.js';

const HOUR = 3_600_000;
const UNKNOWN = {
  kind: null,
  display_name: null,
  context_length: null,
  max_output_tokens: null,
  usd_per_million_tokens: null,
  released_on: null,
  retires_on: null,
  successor: null,
  aliases: [],
};

let upstream: StubUpstream;
let app: TestApp;
beforeAll(async () => {
  upstream = await startStubUpstream();
  app = await createTestApp({ environment: environmentOf(LISTED_VENDORS) });
  makeOperator(app);
});
afterEach(() => {
  upstream.requests.length = 0;
  // Ten requests a minute and account.
  app.clock.advance(60_000);
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

/** Each vendor has its own first part of the path. */
function environmentOf(vendors: readonly ListedVendor[]): Record<string, string> {
  return Object.fromEntries(
    vendors.flatMap(({ variable, slug, basePath }) => [
      [`${variable}_API_KEY`, VENDOR_KEY],
      [`${variable}_BASE_URL`, `${upstream.origin}/${slug}${basePath}`],
    ]),
  );
}

function answerAs({ slug, pages, paths, isAuthorized }: ListedVendor): StubHandler {
  return ({ method, path, headers, text }, response) => {
    const index = paths.findIndex((one) => `/${slug}${one}` === path);
    if (method !== 'GET' || text !== '' || index < 0)
      return sendJson(response, 404, { error: `unknown ${path}` });
    if (!isAuthorized(headers)) return sendJson(response, 401, { error: 'bad key' });
    return sendJson(response, 200, pages[index]);
  };
}

const listed =
  (...names: readonly unknown[]): StubHandler =>
  (_request, response) =>
    sendJson(response, 200, { data: names.map((id) => ({ id })) });

async function discover(slug = 'openai'): Promise<ProviderModelsDto> {
  const { data } = await askFor<{ data: ProviderModelsDto }>(200, app, 'post', `/providers/${slug}/models`);
  return data;
}

async function known(slug = 'openai'): Promise<ProviderModelsDto> {
  const { data } = await askFor<{ data: ProviderModelsDto }>(200, app, 'get', `/providers/${slug}/models`);
  return data;
}

describe('the list of a provider', () => {
  it('is known of all providers that have one for the same credential', () => {
    const having = PROVIDERS.filter(modelListOf).map(({ slug }) => slug);
    expect(having.toSorted()).toEqual(LISTED_VENDORS.map(({ slug }) => slug).toSorted());
  });

  it.each(LISTED_VENDORS.map((vendor) => [vendor.slug, vendor] as const))(
    'of %s is read page by page, with its facts',
    async (slug, vendor) => {
      upstream.answerWith(answerAs(vendor));
      const { models, problem, can_ask: canAsk } = await discover(slug);
      expect({ problem, canAsk, names: models.map(({ name }) => name) }).toEqual({
        problem: null,
        canAsk: true,
        names: vendor.names,
      });
      expect(upstream.requests.map(({ path }) => path)).toEqual(
        vendor.paths.map((path) => `/${slug}${path}`),
      );
      const { kind, displayName, contextLength, maxOutputTokens, prices, ...facts } = vendor.facts;
      expect(models[0]).toEqual({
        ...UNKNOWN,
        name: vendor.names[0],
        ids: [],
        first_seen: app.clock.now().toISOString(),
        last_seen: app.clock.now().toISOString(),
        ...(kind && { kind }),
        ...(displayName && { display_name: displayName }),
        ...(contextLength && { context_length: contextLength }),
        ...(maxOutputTokens && { max_output_tokens: maxOutputTokens }),
        ...(prices && { usd_per_million_tokens: prices }),
        ...(facts.releasedOn && { released_on: facts.releasedOn }),
        ...(facts.retiresOn && { retires_on: facts.retiresOn }),
        ...(facts.successor && { successor: facts.successor }),
        ...(facts.aliases && { aliases: facts.aliases }),
      });
    },
  );

  it('names the models of the catalogue that have each name', async () => {
    upstream.answerWith(listed('text-embedding-3-small', 'not-in-the-catalogue'));
    const { models } = await discover();
    expect(models.find(({ name }) => name === 'text-embedding-3-small')?.ids).toEqual([
      'openai/text-embedding-3-small',
    ]);
    expect(models.find(({ name }) => name === 'not-in-the-catalogue')?.ids).toEqual([]);
  });

  it('states no price where the provider states one for the prompt alone (G44)', async () => {
    upstream.answerWith((_request, response) =>
      sendJson(response, 200, [
        { id: 'a/half', pricing: { input: 0.5 } },
        { id: 'a/negative', pricing: { input: -1, output: 1 } },
        { id: 'a/words', pricing: { input: 'free', output: 1 } },
      ]),
    );
    const { models } = await discover('together');
    const prices = models
      .filter(({ name }) => name.startsWith('a/'))
      .map((one) => one.usd_per_million_tokens);
    expect(prices).toEqual([null, null, null]);
  });
});

describe('a hostile list', () => {
  it('is bounded in names, and in the length and the characters of a name', async () => {
    const many = Array.from({ length: 2_500 }, (_none, index) => `many-${index}`);
    const bad = ['a b', 'a\nb', 'a\0b', '', 'x'.repeat(201), 'é', '"', '<script>', 7, null, { id: 'x' }];
    upstream.answerWith(listed(...bad, ...many));
    const { models, problem } = await discover('openai-compatible');
    expect(problem).toBeNull();
    const names = models.map(({ name }) => name).filter((name) => name !== 'served');
    expect(names).toHaveLength(2_000 - bad.length);
    expect(names.every((name) => /^many-\d+$/.test(name))).toBe(true);
  });

  it('is bounded in bytes over all of its pages', async () => {
    const filler = 'x'.repeat(1_500_000);
    upstream.answerWith((_request, response) =>
      sendJson(response, 200, { models: [{ name: 'models/endless' }], filler, nextPageToken: 'again' }),
    );
    expect((await discover('google')).problem).toBe('the list is larger than 4 MiB');
    expect(upstream.requests.length).toBe(3);
  });

  it('is bounded in pages', async () => {
    upstream.answerWith((_request, response) =>
      sendJson(response, 200, { models: [{ name: 'models/endless' }], nextPageToken: 'again' }),
    );
    expect((await discover('google')).problem).toBeNull();
    expect(upstream.requests).toHaveLength(20);
  });

  it.each<readonly [string, StubHandler, string]>([
    ['no JSON', (_request, response) => sendJson(response, 200, '<html>'), 'the answer is no JSON'],
    [
      'no list',
      (_request, response) => sendJson(response, 200, { data: {} }),
      'the answer has no list of models',
    ],
    ['an empty list', listed(), 'the list is empty'],
    [
      'an error',
      (_request, response) => sendJson(response, 401, { error: { message: 'key sk-secret is wrong' } }),
      'it answers with status 401',
    ],
    [
      'another address',
      (_request, response) => sendJson(response, 302, '', { location: 'http://127.0.0.1:1/models' }),
      'it answers with status 302',
    ],
    ['a broken connection', (_request, response) => void response.destroy(), 'the connection failed'],
  ])('leaves the names of before, and is reported without words of the provider: %s', async (...row) => {
    const [, handler, problem] = row;
    upstream.answerWith(listed('before'));
    await discover();
    const answeredAt = app.clock.now().toISOString();
    app.clock.advance(1_000);
    upstream.answerWith(handler);
    const found = await discover();
    expect(found.problem).toBe(problem);
    expect([found.answered_at, found.asked_at]).toEqual([answeredAt, app.clock.now().toISOString()]);
    expect(found.models.map(({ name }) => name)).toContain('before');
  });

  it('never leaves more than 4,000 names of a provider', async () => {
    for (const round of ['a', 'b', 'c']) {
      upstream.answerWith(listed(...Array.from({ length: 2_000 }, (_none, index) => `${round}-${index}`)));
      app.clock.advance(60_000);
      await discover('vllm');
    }
    expect((await known('vllm')).models).toHaveLength(4_000);
  });
});

describe('background discovery', () => {
  const askDue = (one: TestApp): Promise<void> => one.application.get(ModelDiscovery).askDue();

  it('asks each provider once in six hours, of all processes', async () => {
    upstream.answerWith((request, response) => {
      const vendor = LISTED_VENDORS.find(({ slug }) => request.path.startsWith(`/${slug}/`));
      if (vendor) void answerAs(vendor)(request, response);
    });
    app.clock.advance(7 * HOUR);
    const replica = await app.startReplica();
    try {
      await Promise.all([askDue(app), askDue(replica)]);
      const pages = LISTED_VENDORS.flatMap(({ paths }) => paths).length;
      expect(upstream.requests).toHaveLength(pages);
      app.clock.advance(5 * HOUR);
      await askDue(replica);
      expect(upstream.requests).toHaveLength(pages);
      app.clock.advance(HOUR);
      await askDue(app);
      expect(upstream.requests).toHaveLength(2 * pages);
    } finally {
      await replica.close();
    }
  });

  it('asks again an hour after a failure', async () => {
    upstream.answerWith((_request, response) => sendJson(response, 500, {}));
    app.clock.advance(7 * HOUR);
    await askDue(app);
    const { length } = upstream.requests;
    expect(length).toBe(LISTED_VENDORS.length);
    app.clock.advance(HOUR / 2);
    await askDue(app);
    expect(upstream.requests).toHaveLength(length);
    app.clock.advance(HOUR / 2);
    await askDue(app);
    expect(upstream.requests).toHaveLength(2 * length);
  });

  it('forgets names that a provider has not listed for 30 days', async () => {
    upstream.answerWith(listed('old'));
    await discover();
    app.clock.advance(31 * 24 * HOUR);
    upstream.answerWith(listed('new'));
    await discover();
    expect((await known()).models.map(({ name }) => name)).toEqual(['new']);
  });
});

describe('GET and POST /providers/{slug}/models', () => {
  it('return 404 for a provider that does not exist, by alias as well as by slug', async () => {
    expectError(await ask(app, 'get', '/providers/unknown/models'), 404);
    expectError(await ask(app, 'post', '/providers/unknown/models'), 404);
    expect((await known('google-ai-studio')).provider).toBe('google');
  });

  it('return 409 for a provider without a list, and for one that is not configured', async () => {
    expect((await known('azure')).can_ask).toBe(false);
    expectError(await ask(app, 'post', '/providers/azure/models'), 409);
    const other = await createTestApp();
    makeOperator(other);
    try {
      const response = await ask(other, 'post', '/providers/openai/models');
      expectError(response, 409);
      expect(JSON.stringify(response.body)).toContain('OPENAI_API_KEY');
    } finally {
      await other.close();
    }
  });

  it('let tenants read and operators alone ask', async () => {
    const tenant = await app.createAccount();
    const key = tenant.managementKey;
    expect((await ask(app, 'get', '/providers/openai/models', { key })).status).toBe(200);
    expectError(await ask(app, 'post', '/providers/openai/models', { key }), 403);
    expectError(await ask(app, 'get', '/providers/openai/models', { key: app.apiKey }), 403);
    expectError(await app.http.get('/api/v1/providers/openai/models'), 401);
    expect(upstream.requests).toEqual([]);
  });
});
