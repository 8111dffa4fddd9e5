import { describe, expect, it } from '@jest/globals';
import * as fc from '../../test/support/fast-check.js';
import type { Pace } from '../concurrency/yield-queue.js';
import { createCountingPace, createWork } from '../../test/support/upstreams/pace.js';
import type { EmbeddingInput } from '../domain/embeddings/embedding.js';
import { vectorValues } from '../vectors/vectors.js';
import { UnsupportedRequest } from './shared/provider.js';
import type { ProviderAnswer } from './shared/provider.js';
import { local } from './local.js';

const embed = (
  input: EmbeddingInput,
  dimensions?: number,
  pace: Pace = createWork(),
): Promise<ProviderAnswer> =>
  local.embed(
    {
      upstreamModel: 'hashing',
      input,
      encodingFormat: 'float',
      extra: {},
      ...(dimensions === undefined ? {} : { dimensions }),
    },
    pace,
  );

async function vectorOf(
  item: string | readonly number[],
  dimensions?: number,
  pace?: Pace,
): Promise<Float32Array> {
  const input: EmbeddingInput =
    typeof item === 'string' ? { form: 'texts', items: [item] } : { form: 'tokens', items: [item] };
  return vectorValues((await embed(input, dimensions, pace)).vectors[0]!);
}

/** The cosine of the angle between unit vectors. */
async function similarity(one: string, other: string): Promise<number> {
  const [left, right] = [await vectorOf(one), await vectorOf(other)];
  return left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);
}

const lengthOf = (vector: Float32Array): number => Math.hypot(...vector);
const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 });

describe('a vector', () => {
  // Stored vectors depend on these values: a change invalidates every index that was built before.
  it.each([
    ['The quick brown fox', [0, -0.612372458, -0.204124153, 0.408248305, 0, 0.204124153, 0, -0.612372458]],
    ['a', [0, 0, -0.44721359, 0, -0.89442718, 0, 0, 0]],
    ['!?', [0, 0, 0, 0, 0, 0, 1, 0]],
    [' ', [0, 0, 0, -1, 0, 0, 0, 0]],
    [
      'Ünïcode ① ﬁ 中文字',
      [0.133630618, 0.40089187, -0.133630618, -0.668153107, 0, -0.267261237, 0, -0.534522474],
    ],
    [
      'ΟΔΥΣΣΕΥΣ and Σ',
      [0.138675049, 0.277350098, -0.69337523, 0.138675049, 0.138675049, 0.554700196, -0.277350098, 0],
    ],
    [
      [1, 2, 3],
      [0, 0, 0, 0, 0, 0, 0, 1],
    ],
  ])('of %j never changes', async (item, expected) => {
    expect(await vectorOf(item, 8)).toEqual(Float32Array.from(expected));
  });

  it('has 1024 numbers by default', async () => {
    expect(await vectorOf('width')).toHaveLength(1024);
  });

  it.each([8, 9, 1000, 1024, 4096])('can have %d numbers', async (dimensions) => {
    const vector = await vectorOf('Any text will do here', dimensions);
    expect(vector).toHaveLength(dimensions);
    expect(lengthOf(vector)).toBeCloseTo(1, 6);
  });

  it('is the same for the same text, finite, of length one and never zero', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, fc.integer({ min: 8, max: 64 }), async (text, dimensions) => {
        const vector = await vectorOf(text, dimensions);
        expect(lengthOf(vector)).toBeCloseTo(1, 5);
        expect(await vectorOf(text, dimensions)).toEqual(vector);
      }),
      { numRuns: 500 },
    );
  });

  it('has length one for any tokens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 200_000 }), { minLength: 1, maxLength: 40 }),
        async (tokens) => {
          expect(lengthOf(await vectorOf(tokens, 8))).toBeCloseTo(1, 5);
        },
      ),
    );
  });

  it('does not depend on the other inputs of the call', async () => {
    const { vectors } = await embed({ form: 'texts', items: ['first', 'second', 'first'] });
    expect(vectors.map((vector) => vectorValues(vector))).toEqual([
      await vectorOf('first'),
      await vectorOf('second'),
      await vectorOf('first'),
    ]);
  });

  it('of a multimodal item of texts is that of its lines', async () => {
    const content = ['one', 'two'].map((text) => ({ type: 'text', text }));
    const { vectors } = await embed({ form: 'multimodal', items: [{ content }] });
    expect(vectors.map((vector) => vectorValues(vector))).toEqual([await vectorOf('one\ntwo')]);
  });
});

describe('wording', () => {
  it.each([
    ['The cat sat on the mat', 'A cat sat on a mat', 'Quarterly revenue exceeded expectations'],
    ['database connection refused', 'the connection to the database was refused', 'a recipe for apple pie'],
    ['colour of the harbour', 'color of the harbor', 'seven mountain goats'],
    ['Straßenbahnhaltestelle', 'Straßenbahnen', 'Kartoffelsuppe'],
  ])('of %j is closer to %j than to %j', async (text, alike, different) => {
    expect(await similarity(text, alike)).toBeGreaterThan((await similarity(text, different)) + 0.2);
  });

  it.each([
    ['Hello World', 'hello world'],
    ['ﬁne ①', 'fine 1'],
    ['cafe\u0301', 'caf\u00e9'],
    ['hello, world!', 'hello world'],
  ])('of %j is that of %j: case, compatibility forms and punctuation do not count', async (one, other) => {
    expect(await vectorOf(one)).toEqual(await vectorOf(other));
  });
});

describe('a long text', () => {
  it('has the same vector as in one piece, at any piece boundary', async () => {
    const unit = 'Ünïcode ① ﬁ 中文字 ΣΑΣ\u0301 \u{1f600} ';
    const [few, many] = [await vectorOf(unit.repeat(10)), await vectorOf(unit.repeat(1111))];
    // Repetition keeps the proportions between features.
    many.forEach((value, index) => expect(value).toBeCloseTo(few[index]!, 6));
  });

  // A pause may come every 10,000 characters or tokens.
  it.each([
    ['words', 'hello world lorem ipsum '.repeat(10_000)],
    ['one word', 'a'.repeat(240_000)],
    ['characters outside the basic plane', '\u{20000}'.repeat(120_000)],
    ['punctuation', '!'.repeat(240_000)],
    ['tokens', Array.from({ length: 240_000 }, (_value, index) => index)],
  ])('of %s yields to other work', async (_name, item) => {
    const pace = createCountingPace();
    const result = await vectorOf(item, undefined, pace);
    expect(lengthOf(result)).toBeCloseTo(1, 5);
    expect(pace.pauses).toBeGreaterThanOrEqual(23);
  });

  it('is refused beyond a million characters, with the index of its input', async () => {
    const embedding = embed({ form: 'texts', items: ['short', 'x'.repeat(1_000_001)] });
    await expect(embedding).rejects.toThrow(UnsupportedRequest);
    await expect(embedding).rejects.toThrow('input[1]');
  });
});

describe('a call', () => {
  it('of many short texts yields to other work', async () => {
    const items = Array.from({ length: 4_000 }, (_value, index) => `text ${index}`);
    const pace = createCountingPace();
    const result = await embed({ form: 'texts', items }, undefined, pace);
    expect(result.vectors).toHaveLength(4_000);
    expect(pace.pauses).toBeGreaterThanOrEqual(4_000);
  });

  it('counts words, tokens, and at least one for each text', async () => {
    const texts = await embed({ form: 'texts', items: ['Two words', '...', "three little words' worth"] });
    expect([texts.promptTokens, texts.totalTokens]).toEqual([7, 7]);
    const tokens = await embed({ form: 'tokens', items: [[1, 2, 3], [4]] });
    expect([tokens.promptTokens, tokens.totalTokens]).toEqual([4, 4]);
  });

  it.each(['image_url', 'input_audio', 'input_video', 'input_file'])(
    'with a part %s is refused',
    async (type) => {
      const content = [{ type: 'text', text: 'a' }, { type }];
      const embedding = embed({ form: 'multimodal', items: [{ content }] });
      await expect(embedding).rejects.toThrow(
        new UnsupportedRequest({ index: 0, path: '' }, 'local/hashing takes text only'),
      );
    },
  );
});
