// The cost of a finished call: at most the bound of its inputs, whatever a provider reports.
import { describe, expect, it } from '@jest/globals';
import { price, target, BOUND, slice, own, charge } from '../../../test/support/routing/charges.js';
import type { ModelEndpoint } from '../../catalogue/catalogue-model.js';
import type { EmbeddingInput } from '../../domain/embeddings/embedding.js';
import { AppError } from '../../domain/errors.js';
import type { ErrorCode } from '../../domain/errors.js';
import type { SpendBound } from '../../domain/spend/spend-limit.js';
import type { ServedSlice } from '../../routing/routed-call.js';

describe('the charge of parts without usage', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const text = { type: 'text', text: 'four' };
  const seeing = (endpoint: Partial<ModelEndpoint> = {}) =>
    target({
      prices: price(1n),
      modalityPrices: { image: price(5n) },
      partRates: { image: { tokens: 258, source: 'test' } },
      ...endpoint,
    });
  const estimated = (content: readonly object[], endpoint?: Partial<ModelEndpoint>) =>
    slice(null, null, {
      input: { form: 'multimodal', items: [{ content }] as never },
      target: seeing(endpoint),
    });

  it('is their fixed rate at the price of their modality, and marked', async () => {
    expect(await charge([estimated([image, text, image])])).toMatchObject({
      promptTokens: 517,
      totalTokens: 517,
      tokensByModality: { text: 1, image: 516 },
      isEstimated: true,
      cost: 516n * 5n + 1n,
      upstreamCost: 516n * 5n + 1n,
      unpaid: [],
    });
  });

  it('is the limit of the input where no rate is known', async () => {
    expect(await charge([estimated([image], { partRates: {} })])).toMatchObject({
      promptTokens: 8192,
      tokensByModality: { image: 8192 },
      isEstimated: true,
      cost: 8192n * 5n,
    });
  });

  it('is at most the reservation', async () => {
    const reserved = { cost: 7n, costWithByok: 7n };
    expect(await charge([estimated([image])], { reserved })).toMatchObject({ isEstimated: true, cost: 7n });
  });

  it('is not marked for texts, for reported usage and for a failed call', async () => {
    const reported = { ...estimated([image]), promptTokens: 3, totalTokens: 3 };
    for (const served of [estimated([text]), reported])
      expect(await charge([served])).toMatchObject({ isEstimated: false });
    const error = new AppError('invalid_request');
    expect(await charge([estimated([image])], { error })).toMatchObject({ isEstimated: false });
  });
});

describe('the charge of a call', () => {
  it('counts the tokens that the provider does not report', async () => {
    expect(await charge([slice(null, 12)])).toMatchObject({ promptTokens: 12, totalTokens: 12, cost: 12n });
    expect(await charge([slice(null, null)])).toMatchObject({ promptTokens: 1, totalTokens: 1, cost: 1n });
  });

  it.each([
    ['that failed', [], new AppError('provider_error'), { cost: 0n, promptTokens: 0, upstreamCost: 7n }],
    ['that another endpoint served', [slice(5, 5)], null, { cost: 5n, promptTokens: 5, upstreamCost: 12n }],
  ])(
    'has what a broken answer cost in the cost upstream alone, of a call %s',
    async (_name, served, error, expected) => {
      const charged = await charge(served, { wasted: [slice(7, 7), own(9)], error });
      expect(charged).toMatchObject(expected);
      expect(charged.unpaid).toMatchObject([{ reason: 'broken_answer', amount: 7n, isOwn: false }]);
    },
  );

  it('has at most the tokens that a record can hold, and the cost of all its slices', async () => {
    const most = 2 ** 31 - 1;
    const input: EmbeddingInput = { form: 'multimodal', items: [{ content: [IMAGE] }] };
    const large = target({ prices: price(1n), maxTokensPerInput: most });
    const huge = () => slice(most, most, { input, target: large });
    expect(await charge([huge(), huge()])).toMatchObject({
      promptTokens: most,
      totalTokens: most,
      cost: 2n * BigInt(most),
    });
  });
});

const IMAGE = { type: 'image_url', image_url: { url: 'https://pictures.test/a.png' } };

describe('the charge of a call whose provider reports too much', () => {
  const lie = 1_000_000;

  it.each<[string, SpendBound | null]>([
    ['without a limit', null],
    ['under a limit', { cost: BigInt(BOUND), costWithByok: BigInt(BOUND) }],
  ])('is what its inputs can cost, %s', async (_name, reserved) => {
    expect(await charge([slice(lie, 2 * lie)], { reserved })).toEqual({
      promptTokens: BOUND,
      totalTokens: BOUND,
      tokensByModality: null,
      isEstimated: false,
      cost: BigInt(BOUND),
      upstreamCost: BigInt(lie),
      isByok: false,
      unpaid: [
        {
          provider: 'openai',
          endpoint: 'openai/some-model',
          reason: 'over_reported',
          isOwn: false,
          amount: BigInt(lie - BOUND),
          reportedTokens: lie,
        },
      ],
    });
  });

  it('never exceeds a reservation that was counted instead of estimated', async () => {
    const reserved = { cost: 3n, costWithByok: 5n };
    expect(await charge([slice(8, 8)], { reserved })).toMatchObject({
      cost: 3n,
      upstreamCost: 8n,
      unpaid: [{ reason: 'over_reported', amount: 5n }],
    });
    // Both count toward the limit: what the shared keys cost leaves the rest for the own ones.
    expect(await charge([slice(3, 3), own(4)], { reserved })).toMatchObject({ cost: 3n, upstreamCost: 2n });
  });

  it('is bounded slice by slice: the rest of one input does not pay for another', async () => {
    const charged = await charge([slice(1, 1), slice(lie, lie)]);
    expect(charged).toMatchObject({ promptTokens: 1 + BOUND, cost: BigInt(1 + BOUND) });
  });

  it('through an own provider key counts at most the bound', async () => {
    const charged = await charge([own(lie)]);
    expect(charged).toMatchObject({
      cost: 0n,
      upstreamCost: BigInt(BOUND),
      promptTokens: BOUND,
      isByok: true,
    });
    expect(charged.unpaid).toMatchObject([{ reason: 'over_reported', isOwn: true }]);
  });

  it('bounds the total as well', async () => {
    expect(await charge([slice(3, lie)])).toMatchObject({ promptTokens: 3, totalTokens: BOUND, cost: 3n });
  });

  it.each<
    [string, readonly (typeof IMAGE | { type: string; text: string })[], Partial<ServedSlice>, bigint, bigint]
  >([
    ['of a modality that it has', [IMAGE], { tokensByModality: { image: lie } }, 100n * 5n, BigInt(lie) * 5n],
    [
      'of a modality that it does not have',
      [{ type: 'text', text: 'four' }],
      { tokensByModality: { image: lie } },
      12n,
      BigInt(lie) * 5n,
    ],
    // Whose price is not known: it must not make the call free of charge.
    [
      'of a modality without a price',
      [{ type: 'text', text: 'four' }],
      { tokensByModality: { file: lie } },
      12n,
      12n,
    ],
    ['as a sum', [IMAGE, { type: 'text', text: 'four' }], {}, 100n * 5n, BigInt(lie) * 5n - 12n * 4n],
  ])('of a multimodal input, reported %s', async (_name, content, byModality, cost, upstreamCost) => {
    const seeing = target({
      maxTokensPerInput: 100,
      prices: price(1n),
      modalityPrices: { image: price(5n), file: [] },
    });
    const input: EmbeddingInput = { form: 'multimodal', items: [{ content }] };
    const charged = await charge([slice(lie, lie, { input, target: seeing, ...byModality })]);
    expect(charged).toMatchObject({ cost, upstreamCost });
    expect(charged.promptTokens).toBeLessThanOrEqual(100);
  });

  it('at an endpoint without a known price has no cost, and bounded tokens', async () => {
    const unpriced = slice(lie, lie, { target: target({ prices: [] }) });
    expect(await charge([unpriced])).toMatchObject({ cost: null, upstreamCost: null, promptTokens: BOUND });
  });

  it('covers the members that go upstream with each input', async () => {
    const title = 'x'.repeat(100);
    const member = JSON.stringify({ title }).length;
    const charged = await charge([slice(lie, lie)], { request: { extra: { title } } });
    expect(charged).toMatchObject({ cost: BigInt(BOUND + member) });
    // A typical count of what the provider does not count has them as well.
    const counted = await charge([slice(null, null)], { request: { extra: { title } } });
    expect(counted).toMatchObject({ cost: 1n + BigInt(Math.ceil(member / 4)) });
  });
});

describe('the charge of a call that failed', () => {
  it.each<[ErrorCode, bigint]>([
    ['invalid_request', 5n],
    ['payload_too_large', 5n],
    ['not_found', 5n],
    ['insufficient_credits', 5n],
    ['key_limit_exceeded', 5n],
    ['budget_exceeded', 5n],
    ['provider_error', 0n],
    ['provider_overloaded', 0n],
    ['provider_timeout', 0n],
    ['rate_limit_exceeded', 0n],
    ['operation_timeout', 0n],
    ['unavailable', 0n],
    ['overloaded', 0n],
    ['internal', 0n],
  ])('by %s is of what was served of it: %s', async (code, cost) => {
    expect(await charge([slice(5, 5)], { error: new AppError(code) })).toMatchObject({
      promptTokens: Number(cost),
      totalTokens: Number(cost),
      tokensByModality: null,
      isEstimated: false,
      cost,
      upstreamCost: 5n,
      unpaid: cost === 0n ? [{ reason: 'failed_call', amount: 5n }] : [],
    });
  });

  it('by its caller never exceeds the reservation, for any reports and failures', async () => {
    const error = new AppError('invalid_request');
    const reserved = { cost: BigInt(BOUND), costWithByok: BigInt(BOUND) };
    expect(await charge([slice(1_000, 1_000)], { wasted: [slice(50, 50)], error, reserved })).toMatchObject({
      cost: BigInt(BOUND),
      upstreamCost: 1_050n,
    });
  });

  it.each([
    ['by shared keys', [slice(5, 5)], { upstreamCost: 5n, isByok: false }],
    ['by an own provider key', [own(9)], { upstreamCost: 9n, isByok: true }],
    ['by both', [slice(5, 5), own(9)], { upstreamCost: 9n, isByok: true }],
  ])('has upstream what was served of it %s', async (_name, served, expected) => {
    expect(await charge(served, { error: new AppError('provider_error') })).toMatchObject({
      promptTokens: 0,
      totalTokens: 0,
      tokensByModality: null,
      isEstimated: false,
      cost: 0n,
      ...expected,
    });
  });
});
