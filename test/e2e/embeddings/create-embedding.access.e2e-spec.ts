// POST /embeddings: authentication, money, rate limits and models.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parseUsd } from '../../../src/domain/spend/money.js';
import {
  answerOf,
  answerWithEmbeddings,
  embed,
  EMBEDDINGS,
  LOCAL,
  rejectWith,
  SMALL,
  startWithUpstream,
} from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';

const BODY = { model: LOCAL, input: 'a' };

let setup: Setup;
beforeAll(async () => {
  setup = await startWithUpstream({ MAX_BODY_BYTES: '2048' });
});
afterEach(() => {
  setup.upstream.answerWith(null);
  setup.upstream.requests.length = 0;
});
afterAll(() => setup.close());

describe('401', () => {
  it('is returned without a credential, for any body', async () => {
    for (const body of ['{"model":', '[]', JSON.stringify({ pad: 'x'.repeat(5000) }), JSON.stringify(BODY)]) {
      const response = await setup.app.http
        .post(EMBEDDINGS)
        .set('content-type', 'application/json')
        .send(body);
      expectError(response, 401, 'Missing Authentication header');
    }
  });

  it.each(['Bearer', 'Bearer sk-sb-v1-unknown', 'Basic c2s6c2s=', 'Bearer a b', `Bearer ${'x'.repeat(600)}`])(
    'is returned with the credential %s',
    async (authorization) => {
      const request = setup.app.http.post(EMBEDDINGS).set('authorization', authorization);
      expectError(await request.send(BODY), 401, 'Invalid credentials');
    },
  );

  it.each([
    ['disabled', 'disabled = true'],
    ['expired', "expires_at = '2026-11-18T11:59:59Z'"],
    ['deleted', 'deleted_at = now()'],
  ])('is returned with a key that is %s, immediately', async (_state, change) => {
    const { secret, record } = await setup.app.createKey();
    answerOf(await embed(setup.app, BODY, secret));
    await setup.app.sql(`UPDATE api_keys SET ${change} WHERE id = $1`, [record.id]);
    const rejected = await eventually(
      async () => embed(setup.app, BODY, secret),
      ({ status }) => status !== 200,
    );
    expectError(rejected, 401, 'Invalid credentials');
  });

  it('is returned with its own text for a management key', async () => {
    const response = await embed(setup.app, BODY, setup.app.managementKey);
    expectError(response, 401, 'Management keys cannot be used for inference');
  });

  it('leaves no generation', async () => {
    const response = await embed(setup.app, BODY, 'sk-sb-v1-unknown');
    expectError(response, 401);
    expect(response.headers).not.toHaveProperty('x-generation-id');
  });
});

describe('402', () => {
  const expensive = { model: SMALL, input: `a${' a'.repeat(799)}`, dimensions: 1 };
  // 800 tokens at 0.02 USD a million.
  const spendAll = answerWithEmbeddings(['[1]'], { prompt_tokens: 800, total_tokens: 800 });

  it('is returned for a limit of zero before anything is sent', async () => {
    const { secret } = await setup.app.createKey({ limit: 0n });
    const response = await embed(setup.app, expensive, secret);
    expectError(response, 402, /^API key limit exceeded: .*this key's limit of 0 USD/);
    expect(response.body).toMatchObject({ error: { metadata: { error_type: 'payment_required' } } });
    expect(setup.upstream.requests).toEqual([]);
  });

  it.each([
    ['', null, null],
    ['daily ', 'daily', '2026-11-19T00:00:00Z'],
    ['weekly ', 'weekly', '2026-11-23T00:00:00Z'],
    ['monthly ', 'monthly', '2026-12-01T00:00:00Z'],
  ] as const)(
    'is returned when the %slimit is used up, until it resets, which the message states',
    async (name, limitReset, again) => {
      setup.app.clock.set('2026-11-18T12:00:00Z');
      const { secret } = await setup.app.createKey({ limit: parseUsd('0.000016'), limitReset });
      setup.upstream.answerWith(spendAll);
      answerOf(await embed(setup.app, expensive, secret));
      const rejected = await embed(setup.app, expensive, secret);
      expectError(
        rejected,
        402,
        new RegExp(`^API key limit exceeded: .*this key's ${name}limit of 0\\.000016 USD`),
      );
      expect(setup.upstream.requests).toHaveLength(1);
      if (again !== null) {
        setup.app.clock.set(new Date(Date.parse(again) - 1).toISOString());
        expectError(await embed(setup.app, expensive, secret), 402);
        setup.app.clock.set(again);
        answerOf(await embed(setup.app, expensive, secret));
      }
      setup.app.clock.set('2026-11-18T12:00:00Z');
    },
  );

  it('ends when the limit is raised', async () => {
    const { secret, record } = await setup.app.createKey({ limit: parseUsd('0.000016') });
    setup.upstream.answerWith(spendAll);
    answerOf(await embed(setup.app, expensive, secret));
    expectError(await embed(setup.app, expensive, secret), 402);
    await setup.app.sql('UPDATE api_keys SET limit_amount = 1 WHERE id = $1', [record.id]);
    const response = await eventually(
      async () => embed(setup.app, expensive, secret),
      ({ status }) => status !== 402,
    );
    answerOf(response);
  });

  it('for one key does not affect other keys', async () => {
    const { secret } = await setup.app.createKey({ limit: 0n });
    expectError(await embed(setup.app, expensive, secret), 402);
    answerOf(await embed(setup.app, expensive));
  });
});

describe('404', () => {
  it.each(['openai/unknown', 'unknown/text-embedding-3-small', 'local/hashing/2', 'openai/toString'])(
    'is returned for the unknown model %s',
    async (model) => {
      const response = await embed(setup.app, { model, input: 'a' });
      expectError(response, 404, `Resource not found: there is no embedding model ${model}`);
      expect(response.headers).not.toHaveProperty('x-generation-id');
    },
  );
});

describe('413', () => {
  it('is returned for a body above the limit, and names the limit', async () => {
    const response = await embed(setup.app, { model: LOCAL, input: 'x'.repeat(2048) });
    expectError(response, 413, 'Request payload too large: the limit is 2048 bytes');
  });

  it('is returned for a body above the limit without an announced length', async () => {
    const request = embed(setup.app, '').set('transfer-encoding', 'chunked');
    request.write(`{"model":"${LOCAL}","input":"${'x'.repeat(4096)}`);
    expectError(await request, 413, /the limit is 2048 bytes/);
  });

  it('is returned for an input that the provider finds too large', async () => {
    setup.upstream.answerWith(rejectWith(413, { error: { message: 'Too large.' } }));
    const response = await embed(setup.app, { model: SMALL, input: 'a' });
    expectError(response, 413, 'Provider returned error: Too large.');
    expect(response.body).toMatchObject({
      error: { metadata: { provider_name: 'OpenAI', raw: 'Too large.' } },
    });
  });
});

describe('the default body limit', () => {
  it('is 20 MiB', async () => {
    const generous = await startWithUpstream();
    try {
      const input = Array.from({ length: 20 }, () => 'x'.repeat(1_000_000));
      answerOf(await embed(generous.app, { model: SMALL, input, dimensions: 1 }));
      const tooLarge = await embed(generous.app, { model: SMALL, input: [...input, ...input] });
      expectError(tooLarge, 413, 'Request payload too large: the limit is 20971520 bytes');
    } finally {
      await generous.close();
    }
  });
});

describe('429', () => {
  it('is returned beyond the requests a minute of a key, with Retry-After, for any requests', async () => {
    const limited = await startWithUpstream({ RATE_LIMIT_INFERENCE_PER_MINUTE: '3' });
    try {
      answerOf(await embed(limited.app, BODY));
      expectError(await embed(limited.app, {}), 400);
      answerOf(await embed(limited.app, BODY));
      const response = await embed(limited.app, BODY);
      expectError(response, 429, /^Rate limit exceeded: 3 requests a minute/);
      expect(response.headers).toMatchObject({
        'retry-after': expect.stringMatching(/^[1-9]\d?$/),
        'x-ratelimit-limit': '3',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': expect.stringMatching(/^\d{13}$/),
      });
      expect(response.headers).not.toHaveProperty('x-generation-id');
      const { secret } = await limited.app.createKey();
      answerOf(await embed(limited.app, BODY, secret));
    } finally {
      await limited.close();
    }
  });
});
