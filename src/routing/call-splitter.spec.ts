// Splitting loses nothing, reorders nothing and respects every cap.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createEndpoint } from '../../test/support/endpoints.js';
import type { ModelEndpoint } from '../catalogue/catalogue-model.js';
import { tokenBound } from '../catalogue/token-count.js';
import type { EmbeddingInput } from '../domain/embedding.js';
import { splitCall } from './call-splitter.js';
import type { Slice } from './call-splitter.js';

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

const itemsOf = (slices: readonly Slice[]): unknown[] => slices.flatMap(({ input }) => [...input.items]);

describe('splitCall', () => {
  it('loses nothing, reorders nothing, and says where each slice begins', () => {
    fc.assert(
      fc.property(inputs, endpoints, fc.nat(1000), (input, endpoint, start) => {
        const slices = splitCall({ start, input }, endpoint);
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

  it('respects every cap, but for one input that is too large by itself', () => {
    fc.assert(
      fc.property(inputs, endpoints, (input, endpoint) => {
        for (const slice of splitCall({ start: 0, input }, endpoint)) {
          const { items } = slice.input;
          expect(items.length).toBeLessThanOrEqual(endpoint.maxInputsPerCall);
          if (items.length === 1) continue;
          expect(tokenBound(slice.input, endpoint)).toBeLessThanOrEqual(
            endpoint.maxTokensPerCall ?? Infinity,
          );
          // A list's brackets and commas come once for all, or once for each.
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
        const slices = splitCall({ start: 0, input }, createEndpoint({ maxInputsPerCall }));
        expect(slices).toHaveLength(Math.ceil(input.items.length / maxInputsPerCall));
      }),
    );
  });

  it('hands a call that fits on as it is', () => {
    const slice: Slice = { start: 3, input: { form: 'texts', items: ['a', 'b'] } };
    expect(splitCall(slice, createEndpoint({ maxInputsPerCall: 2 }))[0]).toBe(slice);
  });

  it('cuts 5,000 inputs for a cap of 32 into 157 slices', () => {
    const items = Array.from({ length: 5000 }, (_value, index) => `text ${index}`);
    const slices = splitCall(
      { start: 0, input: { form: 'texts', items } },
      createEndpoint({ maxInputsPerCall: 32 }),
    );
    expect(slices).toHaveLength(157);
    expect(slices.at(-1)).toMatchObject({ start: 4992, input: { items: { length: 8 } } });
  });
});
