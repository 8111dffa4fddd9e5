import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { AppError } from '../../domain/errors.js';
import { readEmbeddingInput } from './embedding-input.js';

const text = fc.string({ unit: 'binary', minLength: 1 });
const token = fc.nat();
const tokens = fc.array(token, { minLength: 1 });
const part = fc.oneof(
  text.map((value) => ({ type: 'text', text: value })),
  text.map((url) => ({ type: 'image_url', image_url: { url } })),
  fc
    .tuple(fc.constantFrom('input_audio', 'input_video', 'input_file'), text)
    .map(([type, data]) => ({ type, [type]: { data, format: 'any' } })),
);
const item = fc.record({ content: fc.array(part, { minLength: 1, maxLength: 4 }) });

const problemOf = (input: unknown): string => {
  try {
    readEmbeddingInput(input);
  } catch (error) {
    if (error instanceof AppError) return error.message.replace('Invalid request parameters: ', '');
    throw error;
  }
  return 'none';
};

describe('an input', () => {
  it('of one text is one item', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(readEmbeddingInput(value)).toEqual({ form: 'texts', items: [value] });
      }),
    );
  });

  it('of an array of texts is as many items', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), (values) => {
        expect(readEmbeddingInput(values)).toEqual({ form: 'texts', items: values });
      }),
    );
  });

  it('of an array of token numbers is one item', () => {
    fc.assert(
      fc.property(tokens, (values) => {
        expect(readEmbeddingInput(values)).toEqual({ form: 'tokens', items: [values] });
      }),
    );
  });

  it('of arrays of token numbers is as many items', () => {
    fc.assert(
      fc.property(fc.array(tokens, { minLength: 1 }), (values) => {
        expect(readEmbeddingInput(values)).toEqual({ form: 'tokens', items: values });
      }),
    );
  });

  it('of multimodal items is as many items, whatever the number of their parts', () => {
    fc.assert(
      fc.property(fc.array(item, { minLength: 1 }), (values) => {
        expect(readEmbeddingInput(values)).toEqual({ form: 'multimodal', items: values });
      }),
    );
  });

  it('is read, or rejected by name, for any value', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), fc.array(fc.oneof(fc.jsonValue(), text, token, tokens, item))),
        (input) => {
          const problem = problemOf(input);
          expect(problem === 'none' || problem.startsWith('input')).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('never mixes forms', () => {
    const other = { texts: text, tokens, items: item };
    const forms = Object.values(other) as fc.Arbitrary<unknown>[];
    const pairs = forms.flatMap((one) => forms.filter((two) => two !== one).map((two) => fc.tuple(one, two)));
    fc.assert(
      fc.property(fc.oneof(...pairs), ([one, two]) => {
        expect(problemOf([one, two])).toMatch(/^input\[1\]: must be /);
      }),
    );
  });
});

describe('a rejected input', () => {
  const textPart = { type: 'text', text: 'a' };

  it.each([
    [undefined, /^input: must be a string, an array/],
    [null, /^input: must be a string, an array/],
    [5, /^input: must be a string, an array/],
    [true, /^input: must be a string, an array/],
    [{ content: [textPart] }, /^input: must be a string, an array/],
    ['', /^input: must not be empty$/],
    [[], /^input: must not be empty$/],
    [['a', ''], /^input\[1\]: must not be empty$/],
    [['a', 'b', null], /^input\[2\]: must be a string like the other inputs$/],
    [['a', 5], /^input\[1\]: must be a string/],
    [[1, -1], /^input\[1\]: must be a token, a whole number from 0$/],
    [[1, 1.5], /^input\[1\]: must be a token/],
    [[1, 2 ** 31], /^input\[1\]: must be a token/],
    [[1, null], /^input\[1\]: must be a token/],
    [[1, 'a'], /^input\[1\]: must be a token/],
    [[[1], []], /^input\[1\]: must not be empty$/],
    [[[]], /^input\[0\]: must not be empty$/],
    [[[1], [2, '3']], /^input\[1\]\[1\]: must be a token/],
    [[[1], 2], /^input\[1\]: must be an array of tokens/],
    [[[[1]]], /^input\[0\]\[0\]: must be a token/],
    [[null], /^input\[0\]: must be a string, tokens, or an object/],
    [[{}], /^input\[0\]: must be a string, tokens, or an object with a content array/],
    [[{ content: 'a' }], /^input\[0\]: must be .* content array/],
    [[{ content: [] }], /^input\[0\]\.content: must not be empty$/],
    [[{ content: [textPart, null] }], /^input\[0\]\.content\[1\]\.type: must be one of text, image_url/],
    [[{ content: [{ type: 'video' }] }], /^input\[0\]\.content\[0\]\.type: must be one of/],
    [[{ content: [{ type: 'toString' }] }], /^input\[0\]\.content\[0\]\.type: must be one of/],
    [[{ content: [{ type: '__proto__' }] }], /^input\[0\]\.content\[0\]\.type: must be one of/],
    [
      [{ content: [{ type: 'text', text: '' }] }],
      /^input\[0\]\.content\[0\]: lacks what its type text needs$/,
    ],
    [[{ content: [{ type: 'image_url', image_url: 'a' }] }], /^input\[0\]\.content\[0\]: lacks what/],
    [
      [{ content: [textPart] }, { content: [{ type: 'input_audio' }] }],
      /^input\[1\]\.content\[0\]: lacks what/,
    ],
    [[{ content: [textPart] }, 'a'], /^input\[1\]: must be/],
  ])('%j is rejected with %s', (input, expected) => {
    expect(problemOf(input)).toMatch(expected);
  });

  it('never appears in the error', () => {
    expect(
      problemOf([{ content: [{ type: 'image_url', image_url: { href: 'the-secret' } }] }]),
    ).not.toContain('the-secret');
    expect(problemOf([1, 'the-secret'])).not.toContain('the-secret');
  });
});

it('rejects more inputs than a call can have vectors, before it reads them', () => {
  for (const input of ['a', [1], {}])
    expect(() => readEmbeddingInput(Array.from({ length: 2 ** 18 + 1 }, () => input))).toThrow(
      'input: must have at most 262144 inputs',
    );
  expect(readEmbeddingInput(Array.from({ length: 2 ** 18 + 1 }, () => 1)).items).toHaveLength(1);
});

it('rejects many small parts that are too large together', () => {
  const parts = Array.from({ length: 70_000 }, () => ({ content: [{ type: 'text', text: 'a' }] }));
  expect(() => readEmbeddingInput(parts)).toThrow('input: must have at most 262144 values in all');
});
