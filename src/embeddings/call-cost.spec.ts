// What a call may cost at most, never less than the bill, whichever endpoints serve its inputs; and what it did cost.
import { describe, expect, it } from '@jest/globals';
import {
  createEndpoint,
  createModel,
  createOwnCredential,
  createTarget,
} from '../../test/support/endpoints.js';
import type { ModelEndpoint } from '../catalogue/catalogue-model.js';
import type { EmbeddingInput } from '../domain/embedding.js';
import { AppError } from '../domain/errors.js';
import type { SpendBound } from '../domain/spend-cap.js';
import type { EndpointTarget } from '../routing/endpoint-target.js';
import type { SpendBounds } from '../spend/spend-gate.js';
import { boundsOf, chargeFor } from './call-cost.js';

const DAY = '2026-11-18';
const price = (perToken: bigint) => [{ effectiveFrom: '2026-01-01', perToken, source: 'test' }];
const text = { type: 'text', text: 'ten bytes.' };
const image = { type: 'image_url', image_url: { url: 'https://pictures.test/a.png' } };
// Its bytes, and room for what a tokenizer adds.
const TEXT_BOUND = 18n;

const target = (endpoint: Partial<ModelEndpoint>): EndpointTarget => createTarget(createEndpoint(endpoint));

function bounds(targets: readonly EndpointTarget[], input: EmbeddingInput): SpendBounds {
  const route = { model: createModel(targets.map(({ endpoint }) => endpoint)), targets };
  return boundsOf(route, { model: route.model.id, input, encodingFormat: 'float', extra: {} }, DAY);
}

/** Both of them, where they are the same. */
async function boundOf(targets: readonly EndpointTarget[], input: EmbeddingInput): Promise<SpendBound> {
  const both = bounds(targets, input);
  const bound = both.quick();
  expect(await both.exact()).toEqual(bound);
  return bound;
}

const same = (cost: bigint): SpendBound => ({ cost, costWithByok: cost });

describe('the bound of a call', () => {
  const small = target({ maxTokensPerInput: 20, prices: price(30n) });
  const large = target({ maxTokensPerInput: 1000, prices: price(10n) });
  const short = text.text;
  const long = 'x'.repeat(492);

  it.each([
    ['one endpoint', [large], 10n * (TEXT_BOUND + 500n)],
    ['several: of each input the dearest', [small, large], 30n * TEXT_BOUND + 10n * 500n],
    ['several in another order', [large, small], 30n * TEXT_BOUND + 10n * 500n],
  ])('is a sum over the inputs, with %s', async (_name, targets, expected) => {
    expect(await boundOf(targets, { form: 'texts', items: [short, long] })).toEqual(same(expected));
  });

  it('of one input is what the dearest endpoint takes', async () => {
    expect(await boundOf([small, large], { form: 'texts', items: [long] })).toEqual(same(10n * 500n));
    expect(await boundOf([small, large], { form: 'texts', items: [short] })).toEqual(same(30n * TEXT_BOUND));
  });

  it('looks at token arrays and at multimodal items one by one as well', async () => {
    const tokens = (count: number): number[] => Array.from({ length: count }, () => 1);
    expect(await boundOf([small, large], { form: 'tokens', items: [tokens(5), tokens(9)] })).toEqual(
      same(30n * 14n),
    );
    const reading = target({
      maxTokensPerInput: 100,
      prices: price(9n),
      modalityPrices: { image: price(1n) },
    });
    const seeing = target({
      maxTokensPerInput: 100,
      prices: price(1n),
      modalityPrices: { image: price(5n) },
    });
    const items = [{ content: [text] }, { content: [image] }];
    expect(await boundOf([reading, seeing], { form: 'multimodal', items })).toEqual(
      same(9n * TEXT_BOUND + 5n * 100n),
    );
  });

  it('with own provider keys among others is of these, and of all together', async () => {
    const own = createTarget(large.endpoint, createOwnCredential(0));
    const input: EmbeddingInput = { form: 'texts', items: [short, long] };
    expect(await boundOf([own, small], input)).toEqual({
      cost: 30n * (TEXT_BOUND + 20n),
      costWithByok: 30n * TEXT_BOUND + 10n * 500n,
    });
    expect(await boundOf([own], input)).toEqual({ cost: 0n, costWithByok: 10n * (TEXT_BOUND + 500n) });
  });

  it('is not known where one endpoint has no price', async () => {
    const free = target({ prices: [] });
    await expect(boundOf([large, free], { form: 'texts', items: [short, long] })).rejects.toMatchObject({
      code: 'insufficient_credits',
    });
  });

  it('is counted for each input where the tokenizer is known', async () => {
    const counted = (perToken: bigint): EndpointTarget =>
      target({ upstreamModel: 'text-embedding-3-small', prices: price(perToken) });
    const { length } = long;
    const input: EmbeddingInput = { form: 'texts', items: ['one two three', 'x '.repeat(length / 2)] };
    // Three tokens, and one for each word and its space, and one at the end.
    const half = BigInt(length / 2 + 1);
    expect(await bounds([counted(20n)], input).exact()).toEqual(same(20n * (3n + half)));
    // Where it is not known, a word has more bytes than tokens.
    expect(await bounds([counted(20n), large], input).exact()).toEqual(same(10n * 21n + 10n * 500n));
    expect(await bounds([counted(30n), large], input).exact()).toEqual(same(10n * 21n + 30n * half));
  });
});

describe('the charge of a call', () => {
  const priced = target({ prices: price(1n) });
  const slice = (promptTokens: number | null, totalTokens: number | null) => ({
    start: 0,
    input: { form: 'texts' as const, items: ['four'] },
    target: priced,
    vectors: [],
    promptTokens,
    totalTokens,
    upstreamId: null,
  });
  const own = { ...slice(9, 9), target: createTarget(priced.endpoint, createOwnCredential(0)) };
  const chargeOf = (...served: ReturnType<typeof slice>[]) =>
    chargeFor({ served, wasted: [], attempts: [], error: null }, DAY);

  it('counts what the provider does not', async () => {
    expect(await chargeOf(slice(null, 12))).toMatchObject({ promptTokens: 12, totalTokens: 12, cost: 12n });
    expect(await chargeOf(slice(null, null))).toMatchObject({ promptTokens: 1, totalTokens: 1, cost: 1n });
  });

  it.each([
    ['that failed', [], new AppError('provider_error'), { cost: 0n, promptTokens: 0, upstreamCost: 7n }],
    ['that another endpoint served', [slice(5, 5)], null, { cost: 5n, promptTokens: 5, upstreamCost: 12n }],
  ])(
    'has what a broken answer cost in the cost upstream alone, of a call %s',
    async (_name, served, error, charge) => {
      const wasted = [slice(7, 7), own];
      expect(await chargeFor({ served, wasted, attempts: [], error }, DAY)).toMatchObject(charge);
    },
  );

  it.each([
    ['by shared keys', [slice(5, 5)], { upstreamCost: 5n, isByok: false }],
    ['by an own provider key', [own], { upstreamCost: 9n, isByok: true }],
    ['by both', [slice(5, 5), own], { upstreamCost: 9n, isByok: true }],
  ])('of a call that failed has upstream what was served of it %s', async (_name, served, charge) => {
    const error = new AppError('provider_error');
    expect(await chargeFor({ served, wasted: [], attempts: [], error }, DAY)).toEqual({
      promptTokens: 0,
      totalTokens: 0,
      tokensByModality: null,
      cost: 0n,
      ...charge,
    });
  });

  it('has no more tokens than a record can hold, and costs what its slices do', async () => {
    const most = 2 ** 31 - 1;
    expect(await chargeOf(slice(most, most), slice(most, most))).toMatchObject({
      promptTokens: most,
      totalTokens: most,
      cost: 2n * BigInt(most),
    });
  });
});
