// POST /embeddings with inputs of several modalities: each token has the price of its modality, before and after the
// call.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { formatUsd, parseUsd, parseUsdPerMillion } from '../../../src/domain/spend/money.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp, TestKey } from '../../support/app/app.js';
import { CACHE_HEADER, embedCached } from '../../support/requests/cached-embedding.js';
import { withCatalogueFile } from '../../support/catalogue/catalogue-file.js';
import { answerOf, embed } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { getKey } from '../../support/requests/get-key.js';
import { stubOf } from '../../support/providers/drive.js';
import type { RunningProviderStub } from '../../support/providers/provider-stub.js';

const COHERE = 'cohere/embed-v4.0';
const GEMINI = 'google/gemini-embedding-2';
const SEEING = 'acme/seeing';
const CATALOGUE = `models:
  - id: ${SEEING}
    created_at: 2026-01-02
    native_dimensions: 1024
    context_length: 8192
    endpoints:
      - provider: vllm
        upstream_model: jinaai/jina-embeddings-v3
        input_forms: [texts, multimodal]
        modalities: [text, image]
        max_inputs_per_call: 100
        max_tokens_per_input: 1000
        prices: [{ effective_from: 2026-01-02, usd_per_million_tokens: 0.10, source: a test }]
        modality_prices:
          image: [{ effective_from: 2026-01-02, usd_per_million_tokens: 0.50, source: a test }]
        data_policy: { retains_prompts: false, trains: false }
`;

const TEXT = { type: 'text', text: 'a cat' };
const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const AUDIO = { type: 'input_audio', input_audio: { data: 'data:audio/wav;base64,UklGRg==' } };
const FILE = { type: 'input_file', input_file: { data: 'data:application/pdf;base64,JVBERg==' } };
const items = (...contents: readonly (readonly object[])[]) => contents.map((content) => ({ content }));
const perToken = parseUsdPerMillion;

const stubs = new Map<string, RunningProviderStub>();
let app: TestApp;
beforeAll(async () => {
  const environment: Record<string, string> = {};
  for (const slug of ['cohere', 'google', 'vllm']) {
    const running = await stubOf(slug).start();
    stubs.set(slug, running);
    environment[`${slug.toUpperCase()}_API_KEY`] = stubOf(slug).apiKey;
    environment[`${slug.toUpperCase()}_BASE_URL`] = running.baseUrl;
  }
  app = await withCatalogueFile(CATALOGUE, (file) =>
    createTestApp({ environment: { ...environment, CATALOGUE_FILE: file } }),
  );
});
beforeEach(() => stubs.forEach((stub) => stub.replyWith(null)));
afterAll(async () => {
  await app.close();
  for (const stub of stubs.values()) await stub.close();
});

async function counterOf({ record }: TestKey): Promise<unknown> {
  const [row] = await app.sql(
    'SELECT total, daily, byok_total, reserved FROM key_spend WHERE api_key_id = $1',
    [record.id],
  );
  return row;
}

/** Formatted like numeric(24,12). */
const stored = (amount: bigint): string => {
  const [whole = '', fraction = ''] = formatUsd(amount).split('.');
  return `${whole}.${fraction.padEnd(12, '0')}`;
};

describe('the cost of a call', () => {
  it.each([
    [
      'of texts and images, reported by modality',
      COHERE,
      items([TEXT, IMAGE], [TEXT], [IMAGE, IMAGE]),
      // Two words a text, a hundred tokens an image.
      4n * perToken('0.12') + 300n * perToken('0.47'),
      { prompt_tokens: 304, total_tokens: 304 },
      { text_tokens: 4, image_tokens: 300 },
    ],
    [
      'of text, image and audio, reported by modality',
      GEMINI,
      items([TEXT, AUDIO], [IMAGE]),
      2n * perToken('0.20') + 258n * perToken('0.45') + 258n * perToken('6.50'),
      { prompt_tokens: 518, total_tokens: 518 },
      { text_tokens: 2, image_tokens: 258, audio_tokens: 258 },
    ],
    [
      'of images alone, reported by modality',
      COHERE,
      items([IMAGE]),
      100n * perToken('0.47'),
      { prompt_tokens: 100, total_tokens: 100 },
      undefined,
    ],
    [
      'of items of one modality each, reported as sums',
      SEEING,
      // One token an item.
      items([TEXT], [IMAGE], [TEXT]),
      2n * perToken('0.10') + perToken('0.50'),
      { prompt_tokens: 3, total_tokens: 3 },
      { text_tokens: 2, image_tokens: 1 },
    ],
    [
      'of a text beside an image, reported as a sum: as if it were all image',
      SEEING,
      items([TEXT, IMAGE], [TEXT]),
      perToken('0.50') + perToken('0.10'),
      { prompt_tokens: 2, total_tokens: 2 },
      undefined,
    ],
  ])('%s', async (_name, model, input, cost, usage, details) => {
    const key = await app.createKey({ limit: parseUsd('1') });
    const answer = answerOf(await embed(app, { model, input, encoding_format: 'base64' }, key.secret));
    expect(answer.data).toHaveLength(input.length);
    expect(answer.usage).toEqual({
      ...usage,
      cost: Number(formatUsd(cost)),
      is_byok: false,
      ...(details && { prompt_tokens_details: details }),
    });
    expect(await counterOf(key)).toMatchObject({ total: stored(cost), daily: stored(cost) });
    const logged = await app.sql('SELECT cost, upstream_cost FROM generations WHERE api_key_id = $1', [
      key.record.id,
    ]);
    expect(logged).toEqual([{ cost: stored(cost), upstream_cost: stored(cost) }]);
    const { body } = await getKey(app, key.record.hash);
    expect(body).toMatchObject({ data: { usage: Number(formatUsd(cost)) } });
  });

  it('is the fixed rate of an image without usage, marked as an estimate', async () => {
    const values = Array.from({ length: 3072 }, () => 1);
    stubs.get('google')?.replyWith({ status: 200, body: { embeddings: [{ values }] } });
    const key = await app.createKey({ limit: parseUsd('1') });
    const { usage } = answerOf(await embed(app, { model: GEMINI, input: items([IMAGE]) }, key.secret));
    expect(usage).toEqual({
      prompt_tokens: 258,
      total_tokens: 258,
      cost: 0.0001161,
      is_byok: false,
      estimated: true,
      prompt_tokens_details: { image_tokens: 258 },
    });
    expect(await counterOf(key)).toMatchObject({ total: stored(258n * perToken('0.45')) });
  });

  it('is unknown for a part without a known price, and a key with a limit cannot make the call', async () => {
    const body = { model: GEMINI, input: items([TEXT, FILE]) };
    const free = await app.createKey();
    const { usage } = answerOf(await embed(app, body, free.secret));
    expect(usage).toEqual({
      prompt_tokens: 260,
      total_tokens: 260,
      is_byok: false,
      prompt_tokens_details: { text_tokens: 2, file_tokens: 258 },
    });
    expect(await counterOf(free)).toMatchObject({ total: stored(0n) });
    const before = stubs.get('google')?.requests.length;
    const limited = await app.createKey({ limit: parseUsd('1') });
    expectError(await embed(app, body, limited.secret), 404, /has a known price for this input/);
    expect(stubs.get('google')?.requests).toHaveLength(before ?? -1);
  });
});

describe('a limit', () => {
  it('worth k image calls admits exactly k of many in parallel', async () => {
    // The upper bound of a call is a thousand image tokens; its actual cost is one.
    const cost = perToken('0.50');
    const key = await app.createKey({ limit: cost * 1005n });
    const body = { model: SEEING, input: items([IMAGE]), encoding_format: 'base64' };
    const answers = await Promise.all(Array.from({ length: 12 }, () => embed(app, body, key.secret)));
    const countOf = (wanted: number): number => answers.filter(({ status }) => status === wanted).length;
    expect({ served: countOf(200), rejected: countOf(402) }).toEqual({ served: 6, rejected: 6 });
    expect(await counterOf(key)).toMatchObject({ total: stored(cost * 6n) });
  });

  it('applies the price of the image, not that of the text beside it', async () => {
    const body = { model: SEEING, input: items([TEXT, IMAGE]) };
    const tooLittle = await app.createKey({ limit: perToken('0.50') * 1000n - 1n });
    expectError(await embed(app, body, tooLittle.secret), 402, /this call may cost 0\.0005 USD/);
    const enough = await app.createKey({ limit: perToken('0.50') * 1000n });
    answerOf(await embed(app, body, enough.secret));
  });
});

describe('multimodal items at a server that accepts one a call', () => {
  it('are sent one by one, and returned in order', async () => {
    const vllm = stubs.get('vllm');
    const before = vllm?.requests.length ?? 0;
    const words = Array.from({ length: 12 }, (_value, index) => ({ type: 'text', text: `word ${index}` }));
    const body = { model: SEEING, input: items(...words.map((word) => [word, IMAGE])) };
    const together = answerOf(await embed(app, body)).data;
    expect(vllm?.requests.slice(before).map((request) => request.body['messages'])).toHaveLength(12);
    for (const [index, { embedding }] of together.entries()) {
      const alone = answerOf(await embed(app, { ...body, input: [body.input[index]] }));
      expect(embedding).toEqual(alone.data[0]?.embedding);
    }
    const texts = { model: SEEING, input: ['one', 'two'] };
    const sent = vllm?.requests.length ?? 0;
    expect(answerOf(await embed(app, texts)).data).toHaveLength(2);
    expect(vllm?.requests).toHaveLength(sent + 1);
  });
});

describe('the cache', () => {
  it.each([
    ['keeps the vectors of images that came with the call', IMAGE, ['miss', 'hit']],
    [
      'is bypassed for images that stand elsewhere: they may change',
      { type: 'image_url', image_url: { url: 'https://images.test/today.png' } },
      ['bypass', 'bypass'],
    ],
  ])('%s', async (_name, part, outcomes) => {
    const found: unknown[] = [];
    for (let call = 0; call < 2; call++) {
      const response = await embedCached(app, items([part]), { model: SEEING, dimensions: undefined });
      answerOf(response);
      found.push(response.headers[CACHE_HEADER.toLowerCase()]);
    }
    expect(found).toEqual(outcomes);
  });
});
