import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import type { EmbeddingInput } from '../embeddings/embedding.js';
import { contentOf, MAX_CONTENT_BYTES } from './generation-content.js';
import type { GenerationContent } from './generation-content.js';

const texts = (items: string[]): EmbeddingInput => ({ form: 'texts', items });
const tokens = (items: number[][]): EmbeddingInput => ({ form: 'tokens', items });
const multimodal = (items: Record<string, unknown>[][]): EmbeddingInput => ({
  form: 'multimodal',
  items: items.map((content) => ({ content })),
});
const bytesOf = ({ items, errorMessage }: GenerationContent): number =>
  Buffer.byteLength(errorMessage ?? '') +
  items.reduce((sum, item) => sum + Buffer.byteLength(typeof item === 'string' ? item : item.join(',')), 0);

describe('the stored content of an input that fits', () => {
  it('has every text', () => {
    expect(contentOf(texts(['one', 'two 🙂']), null)).toEqual({
      items: ['one', 'two 🙂'],
      isTruncated: false,
      errorMessage: null,
    });
  });

  it('has every token', () => {
    expect(contentOf(tokens([[1, 2], [], [2 ** 31 - 1]]), null)).toEqual({
      items: [[1, 2], [], [2 ** 31 - 1]],
      isTruncated: false,
      errorMessage: null,
    });
  });

  it('has the texts of multimodal items, one entry each, and no other part', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const input = multimodal([
      [{ type: 'text', text: 'a caption' }, image, { type: 'text', text: 'and another' }],
      [image],
      [{ type: 'input_file', input_file: { data: 'secret' }, text: 'secret' }],
      [
        { type: 'unknown', text: 'secret' },
        { type: 'text', text: 42 },
      ],
    ]);
    expect(contentOf(input, null)).toEqual({
      items: ['a caption\nand another', '', '', ''],
      isTruncated: false,
      errorMessage: null,
    });
  });

  it('is well-formed', () => {
    expect(contentOf(texts(['half \ud800']), 'half \udfff')).toMatchObject({
      items: ['half �'],
      errorMessage: 'half �',
    });
  });

  it('equals the input, for any input', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', minLength: 1 })), (items) => {
        expect(contentOf(texts(items), null)).toEqual({ items, isTruncated: false, errorMessage: null });
      }),
    );
  });
});

describe('the stored content of an input that is too long', () => {
  it.each([
    ['one long text', texts(['x'.repeat(MAX_CONTENT_BYTES * 2)])],
    ['one long text of wide characters', texts([`x${'🙂'.repeat(MAX_CONTENT_BYTES)}`])],
    ['many texts', texts(Array.from({ length: 2_000 }, (_, index) => `${index} `.repeat(100)))],
    ['a great many short texts', texts(Array.from({ length: MAX_CONTENT_BYTES }, () => 'x'))],
    ['one long list of tokens', tokens([Array.from({ length: MAX_CONTENT_BYTES }, (_, index) => index)])],
    ['many lists of tokens', tokens(Array.from({ length: MAX_CONTENT_BYTES }, (_, index) => [index]))],
    [
      'one long part',
      multimodal([
        [
          { type: 'text', text: 'first' },
          { type: 'text', text: 'x'.repeat(MAX_CONTENT_BYTES) },
        ],
      ]),
    ],
    ['many items', multimodal(Array.from({ length: MAX_CONTENT_BYTES }, () => [{ type: 'image_url' }]))],
  ])('%s: has its beginning, up to the bound', (_name, input) => {
    const content = contentOf(input, 'The error text.');
    expect(content.isTruncated).toBe(true);
    expect(content.errorMessage).toBe('The error text.');
    expect(bytesOf(content)).toBeLessThanOrEqual(MAX_CONTENT_BYTES);
    // Quotes and commas count as well, and some that are not written.
    const length = Buffer.byteLength(JSON.stringify(content));
    expect(length).toBeLessThanOrEqual(MAX_CONTENT_BYTES + 100);
    expect(length).toBeGreaterThan(0.7 * MAX_CONTENT_BYTES);
  });

  it('begins like the input, and is cut between characters', () => {
    fc.assert(
      fc.property(fc.nat(5), fc.constantFrom('é', '€', '🙂'), (shift, character) => {
        const text = 'x'.repeat(shift) + character.repeat(MAX_CONTENT_BYTES);
        const [kept] = contentOf(texts([text]), null).items;
        expect(text.startsWith(String(kept))).toBe(true);
        expect(String(kept).isWellFormed()).toBe(true);
        expect(String(kept).endsWith(character)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it('ends with the first input that does not fit, even if later ones would fit', () => {
    const { items, isTruncated } = contentOf(texts(['a', 'b'.repeat(MAX_CONTENT_BYTES), 'c']), null);
    expect(items.map((item) => item[0])).toEqual(['a', 'b']);
    expect(isTruncated).toBe(true);
  });

  it('has no entry for an input without room', () => {
    const { items, isTruncated } = contentOf(texts(['a'.repeat(MAX_CONTENT_BYTES - 3), 'b']), null);
    expect(items).toHaveLength(1);
    expect(isTruncated).toBe(true);
  });

  it('is complete up to the last byte', () => {
    const text = 'a'.repeat(MAX_CONTENT_BYTES - 3);
    expect(contentOf(texts([text]), null)).toEqual({ items: [text], isTruncated: false, errorMessage: null });
    expect(contentOf(texts([`${text}a`]), null)).toMatchObject({ items: [text], isTruncated: true });
  });

  it('leaves room for a bounded error', () => {
    const content = contentOf(texts(['x'.repeat(MAX_CONTENT_BYTES)]), '🙂'.repeat(MAX_CONTENT_BYTES));
    expect(Buffer.byteLength(content.errorMessage ?? '')).toBe(16_384);
    expect(bytesOf(content)).toBeLessThanOrEqual(MAX_CONTENT_BYTES);
  });
});

describe('the cost of storing', () => {
  /** An array that counts how many of its elements were read. */
  function counted<Item>(items: readonly Item[]): {
    readonly items: readonly Item[];
    readonly reads: () => number;
  } {
    let reads = 0;
    const proxy = new Proxy(items, {
      get: (target, property, receiver) => {
        if (typeof property === 'string' && /^\d+$/.test(property)) reads++;
        return Reflect.get(target, property, receiver) as unknown;
      },
    });
    return { items: proxy, reads: () => reads };
  }

  const LENGTH = 2 * MAX_CONTENT_BYTES;

  it('does not grow with items beyond the bound', () => {
    const { items, reads } = counted(Array.from({ length: LENGTH }, () => 'x'));
    contentOf({ form: 'texts', items }, null);
    expect(reads()).toBeLessThan(MAX_CONTENT_BYTES / 2);
  });

  it('does not grow with tokens beyond the bound', () => {
    const { items, reads } = counted(Array.from({ length: LENGTH }, () => 7));
    contentOf({ form: 'tokens', items: [items] }, null);
    // Read once to count, once to copy.
    expect(reads()).toBeLessThan(1.1 * MAX_CONTENT_BYTES);
  });

  it('is bounded for parts without stored text', () => {
    const { items, reads } = counted(Array.from({ length: LENGTH }, () => ({ type: 'image_url' })));
    expect(contentOf({ form: 'multimodal', items: [{ content: items }] }, null).isTruncated).toBe(true);
    expect(reads()).toBeLessThan(1.1 * MAX_CONTENT_BYTES);
  });
});
