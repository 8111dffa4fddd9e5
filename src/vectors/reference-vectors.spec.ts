// Compares the fast kernel with the reference, for every function that the rest of the service uses.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../test/support/fast-check.js';
import * as fast from './fast-vectors.js';
import {
  encodeVector,
  isZeroVector,
  truncateAndNormalise,
  vectorValues,
  vectorWidth,
} from './reference-vectors.js';
import type { Vector } from './vector.js';

const json = (text: string): Vector => ({ form: 'json', text: Buffer.from(text) });
const base64 = (bytes: Uint8Array): Vector => ({
  form: 'base64',
  text: Buffer.from(Buffer.from(bytes).toString('base64')),
});
const floats = (values: Float32Array): Vector => ({ form: 'floats', values });

const reference = { encodeVector, isZeroVector, truncateAndNormalise, vectorValues, vectorWidth };
type Kernel = typeof reference;

/** The bits of a result, so that 0 differs from -0; or the class of the error. */
function outcomeOf(run: () => Float32Array | Buffer): unknown {
  try {
    const result = run();
    return result instanceof Float32Array
      ? Array.from(result, (value) => (Object.is(value, -0) ? '-0' : value))
      : result.toString('latin1');
  } catch (error) {
    return (error as Error).name;
  }
}

function describeVector(kernel: Kernel, vector: Vector) {
  const width = kernel.vectorWidth(vector);
  return {
    width,
    // Defined for vectors that have a width.
    isZero: width === null ? null : kernel.isZeroVector(vector),
    values: outcomeOf(() => kernel.vectorValues(vector)),
    float: outcomeOf(() => kernel.encodeVector(vector, 'float')),
    base64: outcomeOf(() => kernel.encodeVector(vector, 'base64')),
  };
}

function expectAgreement(vector: Vector): void {
  expect(describeVector(fast, vector)).toEqual(describeVector(reference, vector));
}

const LARGEST = 3.4028234663852886e38;
const SMALLEST = 2 ** -149;

const value = fc.oneof(
  fc.float(),
  fc.constantFrom(0, -0, SMALLEST, -SMALLEST, 2 ** -126, LARGEST, -LARGEST, Infinity, -Infinity, Number.NaN),
);
/** A view that begins anywhere in its memory. */
const values = fc
  .tuple(fc.array(value, { maxLength: 80 }), fc.nat(3))
  .map(([numbers, start]) => Float32Array.from(numbers).subarray(start));
const finiteValues = values.map((numbers) => numbers.filter(Number.isFinite));

const writtenNumber = fc.oneof(
  fc.float({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.stringMatching(/^-?(0|[1-9]\d{0,41})(\.\d{1,41})?([eE][+-]?\d{1,3})?$/),
  fc.constantFrom(
    '0',
    '-0',
    '0.000',
    '-0e5',
    '0E-400',
    '1e-400',
    '1e-46',
    '1e38',
    '3.4028235e38',
    '1e39',
    '1e400',
  ),
);
const malformedNumber = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'01.-+eE, []n"'), maxLength: 6 }),
  fc.constantFrom(
    '01',
    '1.',
    '.5',
    '+1',
    '1e',
    '--1',
    'NaN',
    'Infinity',
    'null',
    '"1"',
    '[1]',
    '{}',
    '',
    '\u00a01',
  ),
);
const space = fc.constantFrom('', '', ' ', '\n\t', '\r');
const written = (number: fc.Arbitrary<string>, maxLength: number) =>
  fc.array(
    fc.tuple(space, number, space).map((parts) => parts.join('')),
    { maxLength },
  );

describe('the fast kernel agrees with the reference', () => {
  it('about float32 values, whatever their bits', () => {
    fc.assert(fc.property(values, (numbers) => expectAgreement(floats(numbers))));
  });

  it('about JSON arrays of numbers', () => {
    fc.assert(
      fc.property(written(writtenNumber, 24), (numbers) => expectAgreement(json(`[${numbers.join(',')}]`))),
      { numRuns: 600 },
    );
  });

  it('about malformed JSON, wherever in the text it is', () => {
    const parts = fc.tuple(written(writtenNumber, 8), malformedNumber, written(writtenNumber, 8));
    const brackets = fc.constantFrom(['[', ']'], ['[', ']'], ['[', ''], ['', ']'], [' [', ']'], ['[', '] ']);
    fc.assert(
      fc.property(parts, brackets, ([before, malformed, after], [open, close]) => {
        expectAgreement(json(`${open}${[...before, malformed, ...after].join(',')}${close}`));
      }),
      { numRuns: 600 },
    );
  });

  it('about JSON of zeros', () => {
    const zero = fc.constantFrom('0', '-0', '0.0', '-0.000e5', '0E-9', '0e+1', '1e-400');
    fc.assert(fc.property(written(zero, 12), (numbers) => expectAgreement(json(`[${numbers.join(',')}]`))));
  });

  it('about base64 of bytes of any number and any bits', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => expectAgreement(base64(bytes))),
      { numRuns: 600 },
    );
    fc.assert(
      fc.property(values, (numbers) => expectAgreement(base64(new Uint8Array(numbers.slice().buffer)))),
      { numRuns: 300 },
    );
  });

  it('about base64 with a wrong character, and of the wrong length', () => {
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 40 }),
        fc.nat(),
        fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('=-_ \n+/'))),
        fc.nat(3),
        (numbers, place, byte, missing) => {
          const bytes = Buffer.from(Float32Array.from(numbers).buffer);
          const text = Buffer.from(bytes.toString('base64'));
          text[place % text.length] = byte;
          expectAgreement({ form: 'base64', text: text.subarray(0, text.length - missing) });
        },
      ),
      { numRuns: 600 },
    );
  });

  it.each([1, 131_071, 200_000])('about %i values, more than the memory of WebAssembly holds', (count) => {
    const numbers = Float32Array.from({ length: count }, (_, index) => Math.sin(index));
    for (const last of [0.5, SMALLEST, Infinity]) {
      numbers[count - 1] = last;
      for (const vector of [
        floats(numbers),
        base64(new Uint8Array(numbers.buffer)),
        json(`[${numbers.join(',')}]`),
      ])
        expect(fast.vectorWidth(vector)).toBe(reference.vectorWidth(vector));
    }
  });

  it('about shortened vectors, to the bit', () => {
    fc.assert(
      fc.property(finiteValues, fc.nat(100), (numbers, width) => {
        expect(outcomeOf(() => fast.truncateAndNormalise(numbers, width))).toEqual(
          outcomeOf(() => reference.truncateAndNormalise(numbers, width)),
        );
      }),
    );
  });

  it('about the way from numbers to each text and back', () => {
    fc.assert(
      fc.property(finiteValues, (numbers) => {
        for (const format of ['float', 'base64'] as const) {
          const text = fast.encodeVector(floats(numbers), format);
          const back: Vector = { form: format === 'float' ? 'json' : 'base64', text };
          expect(outcomeOf(() => reference.vectorValues(back))).toEqual(
            outcomeOf(() => fast.vectorValues(back)),
          );
        }
      }),
    );
  });
});
