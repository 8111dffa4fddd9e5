// Splitting loses no input, keeps the order and respects every limit.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createWork } from '../../test/support/upstreams/pace.js';
import * as fc from '../../test/support/fast-check.js';
import { createEndpoint, createTarget } from '../../test/support/routing/endpoints.js';
import type { ModelEndpoint } from '../catalogue/catalogue-model.js';
import { tokenBound } from '../catalogue/token-count.js';
import type { EmbeddingInput, EmbeddingRequest } from '../domain/embeddings/embedding.js';
import type { EmbeddingProvider } from '../providers/shared/provider.js';
import { splitCall, splitCallYielding, splitProblem } from './call-splitter.js';
import type { Slice } from './call-splitter.js';
import type { EndpointTarget } from './endpoint-target.js';

const inputs: fc.Arbitrary<EmbeddingInput> = fc.oneof(
  fc.record({
    form: fc.constant('texts' as const),
    items: fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { minLength: 1, maxLength: 80 }),
  }),
  fc.record({
    form: fc.constant('tokens' as const),
    items: fc.array(fc.array(fc.nat(100_000), { minLength: 1, maxLength: 40 }), {
      minLength: 1,
      maxLength: 80,
    }),
  }),
  fc.record({
    form: fc.constant('multimodal' as const),
    items: fc.array(
      fc.record({ content: fc.array(fc.record({ type: fc.constant('text'), text: fc.string() })) }),
      { minLength: 1, maxLength: 20 },
    ),
  }),
);
const endpoints: fc.Arbitrary<ModelEndpoint> = fc
  .record(
    {
      maxInputsPerCall: fc.integer({ min: 1, max: 100 }),
      maxTokensPerInput: fc.integer({ min: 1, max: 50 }),
      maxTokensPerCall: fc.integer({ min: 1, max: 300 }),
      maxBytesPerCall: fc.integer({ min: 1, max: 500 }),
    },
    { requiredKeys: ['maxInputsPerCall', 'maxTokensPerInput'] },
  )
  .map(createEndpoint);

const targetFor = (maxInputsPerCall: number, provider: Partial<EmbeddingProvider> = {}): EndpointTarget => {
  const target = createTarget(createEndpoint({ maxInputsPerCall }));
  return { ...target, provider: { ...target.provider, ...provider } as EmbeddingProvider };
};
const twoTicks = async (): Promise<void> => {
  await nextTurn();
  await nextTurn();
};
const itemsOf = (slices: readonly Slice[]): unknown[] => slices.flatMap(({ input }) => [...input.items]);

describe('splitCall', () => {
  it('loses no input, keeps the order, and records where each slice begins', () => {
    fc.assert(
      fc.property(inputs, endpoints, fc.nat(1000), (input, endpoint, start) => {
        const slices = splitCall({ start, input }, createTarget(endpoint));
        expect(itemsOf(slices)).toEqual(input.items);
        let position = start;
        for (const slice of slices) {
          expect(slice.start).toBe(position);
          expect(slice.input.form).toBe(input.form);
          expect(slice.input.items.length).toBeGreaterThan(0);
          position += slice.input.items.length;
        }
      }),
    );
  });

  it('respects every limit, except for one input that is too large by itself', () => {
    fc.assert(
      fc.property(inputs, endpoints, (input, endpoint) => {
        for (const slice of splitCall({ start: 0, input }, createTarget(endpoint))) {
          const { items } = slice.input;
          expect(items.length).toBeLessThanOrEqual(endpoint.maxInputsPerCall);
          if (items.length === 1) continue;
          expect(tokenBound(slice.input, endpoint)).toBeLessThanOrEqual(
            endpoint.maxTokensPerCall ?? Infinity,
          );
          // The brackets and commas of a list count once in all, or once for each input.
          expect(Buffer.byteLength(JSON.stringify(items))).toBeLessThanOrEqual(
            endpoint.maxBytesPerCall ?? Infinity,
          );
        }
      }),
    );
  });

  it('begins a slice only when the one before had no room', () => {
    fc.assert(
      fc.property(inputs, fc.integer({ min: 1, max: 100 }), (input, maxInputsPerCall) => {
        const slices = splitCall({ start: 0, input }, targetFor(maxInputsPerCall));
        expect(slices).toHaveLength(Math.ceil(input.items.length / maxInputsPerCall));
      }),
    );
  });

  it('returns a call that fits unchanged', () => {
    const slice: Slice = { start: 3, input: { form: 'texts', items: ['a', 'b'] } };
    expect(splitCall(slice, targetFor(2))[0]).toBe(slice);
  });

  it('cuts 5,000 inputs for a limit of 32 into 157 slices', () => {
    const items = Array.from({ length: 5000 }, (_value, index) => `text ${index}`);
    const slices = splitCall({ start: 0, input: { form: 'texts', items } }, targetFor(32));
    expect(slices).toHaveLength(157);
    expect(slices.at(-1)).toMatchObject({ start: 4992, input: { items: { length: 8 } } });
  });
});

describe('the limit of a form', () => {
  const target = targetFor(10, { maxInputsByForm: { multimodal: 2 } });
  const item = { content: [{ type: 'text', text: 'a' }] };

  it('is respected beside the limit of the endpoint, and only for its form', () => {
    const split = (input: EmbeddingInput): number[] =>
      splitCall({ start: 0, input }, target).map((slice) => slice.input.items.length);
    expect(split({ form: 'multimodal', items: Array.from({ length: 5 }, () => item) })).toEqual([2, 2, 1]);
    expect(split({ form: 'texts', items: Array.from({ length: 12 }, () => 'a') })).toEqual([10, 2]);
  });
});

describe('a call whose inputs are tied together', () => {
  const target = targetFor(3, { inputTyingMember: 'tie' });
  const problemOf = (count: number, extra: EmbeddingRequest['extra'], of = target): string | null =>
    splitProblem(of, {
      model: 'vendor/model',
      input: { form: 'texts', items: Array.from({ length: count }, () => 'a') },
      encodingFormat: 'float',
      extra,
    });

  it('is rejected when it does not fit into one call, with the limit in the error', () => {
    expect(problemOf(3, { tie: true })).toBeNull();
    expect(problemOf(4, { tie: true })).toBe(
      'tie: needs all inputs in one call, and openai takes at most 3 inputs in one',
    );
    const { endpoint } = target;
    const narrow = { ...target, endpoint: { ...endpoint, maxTokensPerCall: 20, maxBytesPerCall: 1000 } };
    expect(problemOf(3, { tie: true }, narrow)).toMatch(/at most 3 inputs, 20 tokens, 1000 bytes in one$/);
  });

  it.each([1, 'true', 'false', 0, []])('is tied by %j, which an upstream may read as true', (tie) => {
    expect(problemOf(4, { tie })).toMatch(/^tie: /);
  });

  it.each([{}, { tie: false }, { tie: null }, { other: true }])('is not tied by %j', (extra) => {
    expect(problemOf(4, extra)).toBeNull();
  });
});

it('lets other calls run while it measures a large call, with the same result', async () => {
  const target = createTarget(createEndpoint({ maxInputsPerCall: 2048, maxBytesPerCall: 100_000 }));
  const items = Array.from({ length: 20_000 }, (_, index) => `${index} ${'a'.repeat(1_000)}`);
  const slice: Slice = { start: 0, input: { form: 'texts', items } };
  const state = { isDone: false };
  const slices = Promise.resolve(splitCallYielding(slice, target, createWork)).finally(
    () => (state.isDone = true),
  );
  await twoTicks();
  expect(state.isDone).toBe(false);
  expect(await slices).toEqual(splitCall(slice, target));
});
