// POST /embeddings with X-Embedding-Cache: paid inputs are served again, item by item, at no cost.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parseUsd } from '../../../src/domain/spend/money.js';
import {
  answerByText,
  CACHE_HEADER,
  embedCached,
  embeddingOf,
  outcomeOf,
  spendOf,
  startWithTexts,
  usageOf,
  WIDTH,
} from '../../support/requests/cached-embedding.js';
import type { CachedSetup } from '../../support/requests/cached-embedding.js';
import {
  answerOf,
  embed,
  embeddingsOf,
  LOCAL,
  rejectWith,
  SMALL,
} from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { createCredential, startWithKeys } from '../../support/requests/provider-credential.js';

let setup: CachedSetup;
beforeAll(async () => {
  setup = await startWithTexts();
});
afterEach(() => {
  setup.upstream.answerWith(answerByText);
  setup.takeInputs();
});
afterAll(() => setup.close());

let texts = 0;
/** So many texts that no test has used. */
const unseen = (count: number) => Array.from({ length: count }, () => `text ${(texts += 1)}`);

describe('200: a call with the cache on', () => {
  it('requests missing inputs only, once, and returns vectors in the order of the inputs', async () => {
    const [a = '', b = '', c = '', d = ''] = unseen(4);
    expect(await outcomeOf(embedCached(setup.app, [a, b]))).toEqual({
      vectors: [embeddingOf(a), embeddingOf(b)],
      marks: [false, false],
      header: 'miss',
      usage: usageOf(4),
    });
    expect(setup.takeInputs()).toEqual([a, b]);
    const input = [c, b, c, d, a, d, b];
    expect(await outcomeOf(embedCached(setup.app, input))).toEqual({
      vectors: input.map((text) => embeddingOf(text)),
      marks: [false, true, true, false, true, true, true],
      header: 'partial',
      usage: usageOf(4),
    });
    expect(setup.takeInputs()).toEqual([c, d]);
    expect(await outcomeOf(embedCached(setup.app, input))).toEqual({
      vectors: input.map((text) => embeddingOf(text)),
      marks: input.map(() => true),
      header: 'hit',
      usage: usageOf(0),
    });
    expect(setup.takeInputs()).toEqual([]);
  });

  it.each(['float', 'base64'])(
    'returns %s with the same bytes as without the cache',
    async (encoding_format) => {
      const [a = '', b = ''] = unseen(2);
      const dataOf = async (members: object, header: string) => {
        const response = await embed(setup.app, { model: SMALL, input: [a, b, a], ...members }).set(
          CACHE_HEADER,
          header,
        );
        const data = response.text.slice(response.text.indexOf('['), response.text.indexOf(',"model"'));
        expect(response.headers['content-length']).toBe(String(Buffer.byteLength(response.text)));
        return data.replaceAll(',"cached":true', '');
      };
      const members = { encoding_format, dimensions: 300 };
      const uncached = await dataOf(members, 'off');
      expect(await dataOf(members, 'on')).toBe(uncached);
      expect(await dataOf(members, 'on')).toBe(uncached);
    },
  );

  it('caches vectors that the service has converted', async () => {
    const [text = ''] = unseen(1);
    const body = { model: LOCAL, dimensions: 16, encoding_format: 'base64' };
    const uncached = embeddingsOf(await embed(setup.app, { ...body, input: text }));
    for (const header of ['miss', 'hit']) {
      expect(await outcomeOf(embedCached(setup.app, text, body))).toMatchObject({
        vectors: uncached,
        header,
      });
    }
  });

  it.each([
    ['tokens', SMALL, [[1, 2, 3], [4], [1, 2, 3]], [false, false, true]],
    ['multimodal items', LOCAL, [{ content: [{ type: 'text', text: 'a' }] }], [false]],
  ])('accepts %s', async (_name, model, input, marks) => {
    const first = await outcomeOf(embedCached(setup.app, input, { model, dimensions: 8 }));
    const second = await outcomeOf(embedCached(setup.app, input, { model, dimensions: 8 }));
    expect(first.marks).toEqual(marks);
    expect(second).toMatchObject({ vectors: first.vectors, header: 'hit' });
  });

  it('is served while the provider is down', async () => {
    const [a = '', b = ''] = unseen(2);
    await embedCached(setup.app, [a]);
    setup.upstream.answerWith(rejectWith(500, { error: { message: 'down' } }));
    expect(await outcomeOf(embedCached(setup.app, [a, a]))).toMatchObject({ header: 'hit' });
    expectError(await embedCached(setup.app, [a, b]), 502);
  });

  it('caches nothing when it fails', async () => {
    const { app } = setup;
    const input = unseen(2049);
    setup.upstream.answerWith((request, response) => {
      const isLastSlice = (request.body['input'] as unknown[]).length === 1;
      return (isLastSlice ? rejectWith(400, { error: { message: 'no' } }) : answerByText)(request, response);
    });
    expectError(await embedCached(app, input), 400);
    setup.upstream.answerWith(answerByText);
    setup.takeInputs();
    expect(await outcomeOf(embedCached(app, input.slice(0, 3)))).toMatchObject({ header: 'miss' });
    expect(setup.takeInputs()).toEqual(input.slice(0, 3));
  });

  it('names a rejected input by its index in the call', async () => {
    const item = (type: string) => ({
      content: [type === 'text' ? { type, text: 'a' } : { type, image_url: { url: 'https://a.test/a.png' } }],
    });
    const members = { model: LOCAL, dimensions: 8 };
    await embedCached(setup.app, [item('text')], members);
    const input = [item('text'), item('text'), item('image_url')];
    const response = await embedCached(setup.app, input, members);
    expectError(response, 400, 'Invalid request parameters: input[2]: local/hashing takes text only');
  });
});

describe('a cached vector', () => {
  const [text = ''] = unseen(1);
  beforeAll(async () => {
    await embedCached(setup.app, [text]);
  });

  it('serves other keys of the workspace', async () => {
    const { secret } = await setup.app.createKey();
    expect(await outcomeOf(embedCached(setup.app, [text], {}, secret))).toMatchObject({ header: 'hit' });
  });

  it('serves no other workspace', async () => {
    const { apiKey } = await setup.app.createAccount();
    for (const header of ['miss', 'hit']) {
      expect(await outcomeOf(embedCached(setup.app, [text], {}, apiKey))).toMatchObject({ header });
    }
    expect(setup.takeInputs()).toEqual([text]);
  });

  it.each([
    ['another width', { dimensions: WIDTH + 1 }],
    ['the native width', { dimensions: undefined }],
    ['another encoding', { encoding_format: 'base64' }],
    ['an input type', { input_type: 'search_query' }],
    ['another model', { model: 'openai/text-embedding-3-large' }],
  ])('serves no call with %s', async (_name, members) => {
    expect(await outcomeOf(embedCached(setup.app, [text], members))).toMatchObject({ header: 'miss' });
  });

  it.each([
    ['another user', { user: 'another-user' }],
    ['preferences that leave the same endpoints', { provider: { only: ['openai'], sort: 'price' } }],
  ])('serves a call with %s', async (_name, members) => {
    expect(await outcomeOf(embedCached(setup.app, [text], members))).toMatchObject({ header: 'hit' });
  });
});

describe('the disabled cache', () => {
  it.each([
    ['without the header', null],
    ['with off', 'off'],
    ['with OFF', ' OFF '],
  ])('is disabled %s', async (_name, header) => {
    const [text = ''] = unseen(1);
    await embedCached(setup.app, [text]);
    setup.takeInputs();
    const ask = embed(setup.app, { model: SMALL, input: [text, text], dimensions: WIDTH });
    const response = await (header === null ? ask : ask.set(CACHE_HEADER, header));
    expect(answerOf(response).usage).toEqual(usageOf(4));
    expect(response.text).not.toContain('cached');
    expect(response.headers).not.toHaveProperty(CACHE_HEADER.toLowerCase());
    expect(setup.takeInputs()).toEqual([text, text]);
  });

  it('stores nothing', async () => {
    const [text = ''] = unseen(1);
    await embed(setup.app, { model: SMALL, input: text, dimensions: WIDTH });
    expect(await outcomeOf(embedCached(setup.app, [text]))).toMatchObject({ header: 'miss' });
  });

  it('applies to unknown members, which may change vectors', async () => {
    const [text = ''] = unseen(1);
    for (let call = 0; call < 2; call++) {
      expect(await outcomeOf(embedCached(setup.app, [text, text], { unknown: true }))).toEqual({
        vectors: [embeddingOf(text), embeddingOf(text)],
        marks: [false, false],
        header: 'bypass',
        usage: usageOf(4),
      });
    }
    expect(setup.takeInputs()).toHaveLength(4);
  });

  it.each(['', 'true', '1', 'on, on'])('is never a mistake: returns 400 for "%s"', async (value) => {
    const response = await embed(setup.app, { model: SMALL, input: 'a' }).set(CACHE_HEADER, value);
    expectError(response, 400, 'Invalid request parameters: X-Embedding-Cache: must be on or off');
    expect(setup.takeInputs()).toEqual([]);
  });
});

describe('a key with the cache enabled', () => {
  it('applies to calls without the header', async () => {
    const [text = ''] = unseen(1);
    const { secret } = await setup.app.createKey({ embeddingCache: true });
    const ask = () => embed(setup.app, { model: SMALL, input: [text], dimensions: WIDTH }, secret);
    expect(await outcomeOf(ask())).toMatchObject({ header: 'miss' });
    expect(await outcomeOf(ask())).toMatchObject({ header: 'hit', marks: [true] });
    expect(await outcomeOf(ask().set(CACHE_HEADER, 'off'))).toMatchObject({
      marks: [false],
      usage: usageOf(2),
    });
  });

  it('can be any key, at any moment', async () => {
    const { secret, record } = await setup.app.createKey();
    const ask = () => embed(setup.app, { model: SMALL, input: ['a'], dimensions: WIDTH }, secret);
    expect((await outcomeOf(ask())).header).toBeUndefined();
    await setup.app.sql('UPDATE api_keys SET embedding_cache = true WHERE id = $1', [record.id]);
    await eventually(
      () => outcomeOf(ask()),
      ({ header }) => header !== undefined,
    );
  });
});

describe('the cost', () => {
  it('is that of the inputs sent to providers, in responses, log and counters', async () => {
    const { app } = setup;
    const key = await app.createKey();
    const [a = '', b = '', c = ''] = unseen(3);
    let tokens = 0;
    for (const input of [[a], [a, b, b], [c, a], [a, b, c], [b]]) {
      const { usage } = answerOf(await embedCached(app, input, {}, key.secret));
      expect(usage).toEqual(usageOf(Number(usage['total_tokens'])));
      tokens += Number(usage['total_tokens']);
    }
    expect(tokens).toBe(6);
    const exact = parseUsd('0.02') / 1_000_000n;
    expect(await spendOf(app, key.record.id)).toEqual({ counted: exact * 6n, logged: exact * 6n });
  });

  it('is zero for cached inputs: a key at its limit is served', async () => {
    const { app } = setup;
    const [a = '', b = ''] = unseen(2);
    const { secret } = await app.createKey({ limit: 0n });
    expectError(await embedCached(app, [a], {}, secret), 402);
    await embedCached(app, [a]);
    expect(await outcomeOf(embedCached(app, [a, a], {}, secret))).toMatchObject({
      header: 'hit',
      usage: usageOf(0),
    });
    expectError(await embedCached(app, [a, b], {}, secret), 402);
  });

  it('reserves money for missing inputs only', async () => {
    const { app } = setup;
    const input = unseen(50);
    await embedCached(app, input.slice(1));
    // Ten tokens: enough for one of the texts.
    const { secret } = await app.createKey({ limit: (parseUsd('0.02') / 1_000_000n) * 10n });
    expectError(await embed(app, { model: SMALL, input, dimensions: WIDTH }, secret), 402);
    expect(await outcomeOf(embedCached(app, input, {}, secret))).toMatchObject({ usage: usageOf(2) });
  });

  it('is zero in the whole workspace for vectors that an own provider key has paid for', async () => {
    const byok = await startWithKeys();
    try {
      await createCredential(byok.app, { apiKey: 'own-key-of-the-workspace', isByokOnly: true });
      const key = await byok.app.createKey();
      const uses = [];
      for (let call = 0; call < 2; call++)
        uses.push((await outcomeOf(embedCached(byok.app, ['a'], {}, key.secret))).usage);
      expect(uses).toEqual([{ prompt_tokens: 5, total_tokens: 5, cost: 0, is_byok: true }, usageOf(0)]);
      expect(byok.takeKeys()).toHaveLength(1);
      const rows = await byok.app.sql('SELECT byok_total FROM key_spend WHERE api_key_id = $1', [
        key.record.id,
      ]);
      expect(rows).toEqual([{ byok_total: '0.000000100000' }]);
    } finally {
      await byok.close();
    }
  });
});

describe('the generation', () => {
  it('of a call without a provider has all members, and names the provider of the vectors', async () => {
    const [text = ''] = unseen(1);
    await embedCached(setup.app, [text]);
    const response = await embedCached(setup.app, [text, text]).set('X-OpenRouter-Metadata', 'enabled');
    expect(response.body).toMatchObject({
      provider: 'OpenAI',
      openrouter_metadata: { attempt: 0, attempts: [], strategy: 'direct', is_byok: false },
    });
    const id = String(response.headers['x-generation-id']).replace('gen-', '');
    expect(await setup.app.sql('SELECT * FROM generations WHERE id = $1::uuid', [id])).toEqual([
      expect.objectContaining({
        status: 200,
        provider: 'openai',
        endpoint: 'openai/text-embedding-3-small',
        upstream_id: null,
        input_count: 2,
        prompt_tokens: 0,
        total_tokens: 0,
        cost: '0.000000000000',
        upstream_cost: '0.000000000000',
        is_byok: false,
        dimensions: WIDTH,
        upstream_ms: 0,
        attempts: null,
      }),
    ]);
  });
});

describe('a cache entry', () => {
  it('expires after EMBEDDING_CACHE_TTL', async () => {
    const short = await startWithTexts({ EMBEDDING_CACHE_TTL: '10' });
    try {
      await embedCached(short.app, ['a']);
      short.app.clock.advance(10_000);
      expect(await outcomeOf(embedCached(short.app, ['a']))).toMatchObject({ header: 'hit' });
      short.app.clock.advance(1);
      expect(await outcomeOf(embedCached(short.app, ['a']))).toMatchObject({ header: 'miss' });
    } finally {
      await short.close();
    }
  });

  it('does not exist with EMBEDDING_CACHE_BYTES=0', async () => {
    const none = await startWithTexts({ EMBEDDING_CACHE_BYTES: '0' });
    try {
      for (let call = 0; call < 2; call++)
        expect(await outcomeOf(embedCached(none.app, ['a', 'a']))).toMatchObject({ marks: [false, true] });
    } finally {
      await none.close();
    }
  });
});
