// Costs of inputs: bounds that no bill exceeds, and exact sums for tokens that the provider reports by modality.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../test/support/fast-check.js';
import { createEndpoint } from '../../test/support/routing/endpoints.js';
import type { EmbeddingInput, MultimodalItem } from '../domain/embeddings/embedding.js';
import { MODALITIES } from '../domain/embeddings/modality.js';
import type { Modality, TokensByModality } from '../domain/embeddings/modality.js';
import { costOfTokens, countedItemCosts, greatestCost } from './input-cost.js';
import { tokenBound, tokenBounds, tokensWithoutUsage } from './token-count.js';

const DAY = '2026-11-18';
const price = (perToken: bigint) => [{ effectiveFrom: '2026-01-01', perToken, source: 'test' }];

const PARTS: Readonly<Record<Modality, MultimodalItem['content'][number]>> = {
  text: { type: 'text', text: 'ten bytes.' },
  image: { type: 'image_url', image_url: { url: 'https://pictures.test/a.png' } },
  audio: { type: 'input_audio', input_audio: { data: 'data:audio/wav;base64,AA==' } },
  video: { type: 'input_video', input_video: { data: 'data:video/mp4;base64,AA==' } },
  file: { type: 'input_file', input_file: { data: 'data:application/pdf;base64,AA==' } },
};
// Ten bytes, and the tokens that a tokenizer adds.
const TEXT_BOUND = 18;

const items = (...contents: readonly (readonly Modality[])[]): EmbeddingInput => ({
  form: 'multimodal',
  items: contents.map((content) => ({ content: content.map((modality) => PARTS[modality]) })),
});

const endpoint = createEndpoint({
  maxTokensPerInput: 1000,
  prices: price(10n),
  modalityPrices: { image: price(40n), audio: price(3n), file: [] },
});

describe('the most that an input can cost', () => {
  it.each([
    ['a text', { form: 'texts', items: ['ten bytes.'] }, 10 * TEXT_BOUND],
    ['token arrays', { form: 'tokens', items: [[1, 2, 3], [4]] }, 10 * 4],
    ['an item of text alone', items(['text']), 10 * TEXT_BOUND],
    ['an image', items(['image']), 40 * 1000],
    ['a text beside a more expensive image', items(['text', 'image']), 40 * 1000],
    ['a text beside cheaper audio', items(['text', 'audio']), 10 * TEXT_BOUND + 3 * (1000 - TEXT_BOUND)],
    ['what has no price of its own', items(['video']), 10 * 1000],
    ['one item of each kind', items(['text'], ['image'], ['audio']), 10 * TEXT_BOUND + 40 * 1000 + 3 * 1000],
  ] satisfies [string, EmbeddingInput, number][])('%s', (_name, input, expected) => {
    expect(greatestCost(input, endpoint, DAY)).toBe(BigInt(expected));
  });

  it('is null when a part has no known price', async () => {
    expect(greatestCost(items(['text', 'file']), endpoint, DAY)).toBeNull();
    expect(await countedItemCosts(items(['text'], ['file']), endpoint, DAY)).toEqual([
      BigInt(10 * TEXT_BOUND),
      null,
    ]);
    expect(greatestCost(items(['text']), createEndpoint(), DAY)).toBeNull();
  });

  it('is exact when its tokens can be counted', async () => {
    const counted = createEndpoint({ upstreamModel: 'text-embedding-3-small', prices: price(10n) });
    expect(await countedItemCosts({ form: 'texts', items: ['one two three', 'four'] }, counted, DAY)).toEqual(
      [30n, 10n],
    );
    expect(await countedItemCosts({ form: 'tokens', items: [[1, 2], [3]] }, endpoint, DAY)).toEqual([
      20n,
      10n,
    ]);
    expect(await countedItemCosts(items(['image']), endpoint, DAY)).toEqual([40_000n]);
  });
});

describe('the charge of a provider', () => {
  it.each([
    ['by modality', items(['text', 'image']), 300, { text: 100, image: 200 }, 100 * 10 + 200 * 40],
    ['a modality that is not among the parts', items(['video']), 30, { video: 20, audio: 10 }, 20 * 10 + 30],
    ['as a sum, of one modality', items(['image']), 300, {}, 300 * 40],
    ['as a sum, of several: the most expensive mixture', items(['text', 'image']), 300, {}, 300 * 40],
    [
      'as a sum, with the more expensive of them bounded',
      items(['text', 'audio']),
      300,
      {},
      10 * TEXT_BOUND + 3 * (300 - TEXT_BOUND),
    ],
    ['in part by modality', items(['text', 'image']), 300, { text: 100 }, 100 * 10 + 200 * 40],
    ['by modality, and more than the sum', items(['image']), 5, { image: 7 }, 7 * 40],
    [
      'beyond the bounds',
      items(['text'], ['audio']),
      5000,
      {},
      3000 + TEXT_BOUND * 10 + (4000 - TEXT_BOUND) * 10,
    ],
    ['of texts', { form: 'texts', items: ['a'] }, 7, {}, 70],
  ] satisfies [string, EmbeddingInput, number, TokensByModality, number][])(
    'for tokens that are reported %s',
    (_name, input, tokens, reported, expected) => {
      expect(costOfTokens(input, tokens, reported, endpoint, DAY)).toBe(BigInt(expected));
    },
  );

  it.each([
    ['reported', items(['text', 'file']), { text: 1, file: 1 }],
    ['in the input', items(['text', 'file']), {}],
    ['reported and not in the input', items(['video']), { file: 1 }],
  ] satisfies [string, EmbeddingInput, TokensByModality][])(
    'is null with a modality of unknown price that is %s',
    (_name, input, reported) => {
      expect(costOfTokens(input, 2, reported, endpoint, DAY)).toBeNull();
    },
  );

  it('is never above the bound, and never below the bill, for any mixture', () => {
    const inputs = fc.array(fc.array(fc.constantFrom(...MODALITIES), { minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 5,
    });
    const perToken = fc.bigInt({ min: 0n, max: 50n });
    fc.assert(
      fc.property(
        inputs,
        fc.record({ text: perToken, image: perToken, audio: perToken, video: perToken, file: perToken }),
        fc.integer({ min: 20, max: 200 }),
        fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
        (contents, { text, ...others }, maxTokensPerInput, chances) => {
          const served = createEndpoint({
            maxTokensPerInput,
            prices: price(text),
            modalityPrices: Object.fromEntries(
              Object.entries(others).map(([modality, perTokenOf]) => [modality, price(perTokenOf)]),
            ),
          });
          const input = items(...contents);
          if (input.form !== 'multimodal') throw new Error('not multimodal');
          // The provider's own count: a mixture within the bounds of every item.
          const reported: Partial<Record<Modality, number>> = {};
          for (const item of input.items) {
            let room = maxTokensPerInput;
            for (const [modality, bound] of Object.entries(tokenBounds(item, served)) as [
              Modality,
              number,
            ][]) {
              const count = Math.floor(Math.min(bound, room) * (chances.next().value ?? 0));
              reported[modality] = (reported[modality] ?? 0) + count;
              room -= count;
            }
          }
          const counts = Object.values(reported);
          const tokens = counts.reduce((sum, count) => sum + count, 0);
          const prices = { text, ...others };
          const bill = MODALITIES.reduce((sum, name) => sum + BigInt(reported[name] ?? 0) * prices[name], 0n);
          expect(costOfTokens(input, tokens, reported, served, DAY)).toBe(bill);
          const charged = costOfTokens(input, tokens, {}, served, DAY);
          expect(charged).toBeGreaterThanOrEqual(bill);
          expect(charged).toBeLessThanOrEqual(greatestCost(input, served, DAY) ?? -1n);
          expect(tokens).toBeLessThanOrEqual(tokenBound(input, served));
        },
      ),
    );
  });
});

describe('tokens that the provider does not report', () => {
  it.each([
    ['a text are typical for its length', { form: 'texts', items: ['twelve bytes', 'a'] }, 4, { text: 4 }],
    ['an item of text are typical for its length', items(['text']), 3, { text: 3 }],
    ['a part without a rate are the limit of its input', items(['text', 'image'], ['text']), 1003, null],
    ['a part with a rate are that rate', items(['text', 'audio'], ['audio']), 203, { text: 3, audio: 200 }],
    ['many parts are at most the limit', items(Array.from({ length: 11 }, () => 'audio')), 1000, null],
    [
      'a text beyond the limit are the limit',
      { form: 'texts', items: ['x'.repeat(40_000)] },
      1000,
      { text: 1000 },
    ],
  ] satisfies [string, EmbeddingInput, number, TokensByModality | null][])(
    'of %s',
    async (_name, input, tokens, byModality) => {
      const rated = { ...endpoint, partRates: { audio: { tokens: 100, source: 'test' } } };
      expect(await tokensWithoutUsage(input, rated)).toEqual({ tokens, byModality });
    },
  );
});
