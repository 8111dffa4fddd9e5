// Limits per input take part in choosing endpoints.
import { describe, expect, it } from '@jest/globals';
import { createEndpoint, createModel, createTarget } from '../../../test/support/routing/endpoints.js';
import { NEVER_YIELD } from '../../concurrency/yield-queue.js';
import type { EmbeddingInput, EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import { EMBEDDING_PROVIDERS } from '../../providers/index.js';
import { withRoomForInputs } from './input-room.js';

const SMALL = 'text-embedding-3-small';
const words = (count: number): string =>
  Array.from({ length: count }, (_value, index) => `w${index}`).join(' ');

interface Limit {
  readonly provider: string;
  readonly limit: number;
  readonly upstreamModel?: string;
  readonly family?: string;
}

const candidate = ({ provider: slug, limit, upstreamModel = 'some-model', ...family }: Limit) => {
  const provider = EMBEDDING_PROVIDERS.find((one) => one.slug === slug);
  if (!provider) throw new Error(`no provider ${slug}`);
  const endpoint = createEndpoint({ provider: slug, upstreamModel, maxTokensPerInput: limit, ...family });
  return { target: { ...createTarget(endpoint), provider } };
};
const LIMITS = [
  { provider: 'tei', limit: 512 },
  { provider: 'openai-compatible', limit: 8192 },
];

async function choose(
  input: EmbeddingInput,
  limits: readonly Limit[] = LIMITS,
  extra: EmbeddingRequest['extra'] = {},
): Promise<string[]> {
  const request = { model: 'vendor/model', input, encodingFormat: 'float' as const, extra };
  const left = await withRoomForInputs(limits.map(candidate), request, NEVER_YIELD);
  return left.map(({ target }) => target.provider.slug);
}

const texts = (...items: readonly string[]): EmbeddingInput => ({ form: 'texts', items });

describe('an endpoint is skipped', () => {
  it.each<[string, EmbeddingInput]>([
    ['a text with more words', texts('short', words(513))],
    ['a token array that is longer', { form: 'tokens', items: [[1], Array.from({ length: 513 }, () => 7)] }],
    [
      'a multimodal item whose texts have more words',
      {
        form: 'multimodal',
        items: [{ content: [300, 300].map((count) => ({ type: 'text', text: words(count) })) }],
      },
    ],
  ])('for %s than its limit has tokens', async (_name, input) => {
    expect(await choose(input)).toEqual(['openai-compatible']);
  });
});

describe('an endpoint is tried', () => {
  it.each<[string, EmbeddingInput]>([
    ['exactly as many words', texts(words(512))],
    ['one long word', texts('x'.repeat(100_000))],
    ['ideographs, which have no separators', texts('語'.repeat(5_000))],
    ['symbols, which a tokenizer may drop', texts('- '.repeat(5_000))],
    ['separators', texts(' '.repeat(5_000))],
    ['as many tokens', { form: 'tokens', items: [Array.from({ length: 512 }, () => 7)] }],
    [
      'an image',
      { form: 'multimodal', items: [{ content: [{ type: 'image_url', image_url: { url: 'a' } }] }] },
    ],
  ])('for %s', async (_name, input) => {
    expect(await choose(input)).toEqual(['tei', 'openai-compatible']);
  });

  it('synchronously when no input is long', () => {
    const candidates = LIMITS.map(candidate);
    const request = {
      model: 'vendor/model',
      input: texts('a', 'b'),
      encodingFormat: 'float' as const,
      extra: {},
    };
    expect(withRoomForInputs(candidates, request, NEVER_YIELD)).toBe(candidates);
  });
});

describe('the context length of the model', () => {
  it('bounds the limit of its endpoints', async () => {
    const endpoint = createEndpoint({ provider: 'tei', maxTokensPerInput: 8192 });
    const model = { ...createModel([endpoint]), contextLength: 512 };
    const target = { ...createTarget(endpoint), model };
    const request = {
      model: model.id,
      input: texts(words(513)),
      encodingFormat: 'float' as const,
      extra: {},
    };
    await expect(withRoomForInputs([{ target }], request, NEVER_YIELD)).rejects.toMatchObject({
      metadata: { max_input_tokens: 512 },
    });
  });
});

describe('when every endpoint is too small', () => {
  it('names the input, at least its words, and the largest limit', async () => {
    const limits = [
      { provider: 'tei', limit: 256 },
      { provider: 'openai-compatible', limit: 512 },
    ];
    await expect(choose(texts('a', words(600)), limits)).rejects.toMatchObject({
      status: 400,
      errorType: 'context_length_exceeded',
      message:
        'Invalid request parameters: input[1]: has at least 600 tokens, and vendor/model takes at most 512',
      metadata: { input_index: 1, input_tokens: 600, max_input_tokens: 512 },
    });
  });

  it.each([
    ['a text of a known tokenizer', texts('<|endoftext|> '.repeat(2_000)), 10_000],
    ['a text of short words', texts(words(5_000)), 10_000],
  ])('counts the tokens of %s', async (_name, input, least) => {
    const failure = await choose(input, [{ provider: 'openai', limit: 8192, upstreamModel: SMALL }]).then(
      () => null,
      (error: unknown) => error as Error,
    );
    const [, count] =
      /^Invalid request parameters: input\[0\]: has (\d+) tokens, and/.exec(failure?.message ?? '') ?? [];
    expect(Number(count)).toBeGreaterThanOrEqual(least);
  });

  it('takes a text of a known tokenizer that just fits', async () => {
    // One token each.
    const text = ' a'.repeat(8_192);
    const openai = [{ provider: 'openai', limit: 8192, upstreamModel: SMALL }];
    expect(await choose(texts(text), openai)).toEqual(['openai']);
    await expect(choose(texts(`${text} a`), openai)).rejects.toMatchObject({
      metadata: { input_tokens: 8_193 },
    });
  });

  it.each([
    ['cohere', {}, { truncate: 'NONE' }],
    ['voyage', {}, { truncation: false }],
    ['ollama', {}, { truncate: false }],
    ['google', {}, { autoTruncate: false }],
    ['tei', { truncate: true }, {}],
    ['jina', { truncate: true }, {}],
    ['vllm', { truncate_prompt_tokens: -1 }, {}],
  ])('tries %s only where it truncates', async (provider, truncating, rejecting) => {
    const limits = [{ provider, limit: 512 }];
    expect(await choose(texts(words(600)), limits, truncating)).toEqual([provider]);
    await expect(choose(texts(words(600)), limits, rejecting)).rejects.toMatchObject({ status: 400 });
  });

  it('tries Bedrock only for families that truncate, whatever the name of the model', async () => {
    const bedrock = { provider: 'bedrock', limit: 512, upstreamModel: 'arn:aws:bedrock:profile/abc' };
    const input = texts(words(600));
    expect(await choose(input, [{ ...bedrock, family: 'cohere-embed-v4' }])).toEqual(['bedrock']);
    await expect(choose(input, [{ ...bedrock, family: 'titan-embed-text' }])).rejects.toMatchObject({
      status: 400,
    });
  });

  it('prefers room to truncation', async () => {
    const limits = [
      { provider: 'cohere', limit: 512 },
      { provider: 'openai-compatible', limit: 8192 },
    ];
    expect(await choose(texts(words(600)), limits)).toEqual(['openai-compatible']);
  });

  it('yields between long inputs', async () => {
    let yields = 0;
    const pace = { isDue: true, yieldNow: () => Promise.resolve(void yields++) };
    const input = texts(...Array.from({ length: 5 }, () => 'x'.repeat(9_000)));
    const request = { model: 'vendor/model', input, encodingFormat: 'float' as const, extra: {} };
    await withRoomForInputs([candidate({ provider: 'tei', limit: 512 })], request, pace);
    expect(yields).toBe(5);
  });
});
