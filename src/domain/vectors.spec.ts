import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isFiniteVector } from './json-vector.js';
import { encodeVector, truncateAndNormalise, vectorValues, vectorWidth } from './vectors.js';
import type { Vector } from './vectors.js';

const json = (text: string): Vector => ({ form: 'json', text: Buffer.from(text) });
const base64 = (text: string): Vector => ({ form: 'base64', text: Buffer.from(text) });
const floats = (...values: number[]): Vector => ({ form: 'floats', values: Float32Array.from(values) });

describe('width', () => {
  it.each([
    [json('[]'), 0],
    [json('[ \n ]'), 0],
    [json('[1]'), 1],
    [json('[0.5, -1e-7,3]'), 3],
    [base64(''), 0],
    [base64('AACAPw=='), 1],
    [base64('AACAPwAAAEA='), 2],
    [base64('AACAPw='), null],
    [base64('AACA'), null],
    [base64('AAC*Pw=='), null],
    [base64('AA==AA=='), null],
    [json('[1,]'), null],
    [json('[,1]'), null],
    [json('[1 2]'), null],
    [json('[01]'), null],
    [json('[1.]'), null],
    [json('[1e]'), null],
    [json('[-]'), null],
    [json('[null]'), null],
    [json('["1"]'), null],
    [json('[[1]]'), null],
    [json('[1'), null],
    [json('[1e38]'), 1],
    [json('[123456789, 1234567890.5, -12345678901e-3]'), 3],
    [json('[1234567890, null]'), null],
    [json('[[1234567890]]'), null],
    [json('[1e39]'), null],
    [json('[1E+400]'), null],
    [json(`[${'9'.repeat(39)}]`), null],
    [json(`[${'9'.repeat(38)}.5]`), 1],
    [json('[0.5e-400]'), 1],
    [base64('AADAfw=='), null],
    [base64('-_CAPw=='), null],
    [floats(1, 2), 2],
    [floats(Number.NaN), null],
  ])('of %j is %s', (vector, expected) => {
    expect(vectorWidth(vector)).toBe(expected);
  });
});

describe('the width of JSON text', () => {
  it('agrees with JSON itself about every array of numbers', () => {
    const number = fc.float({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(fc.array(number), fc.constantFrom('', ' ', '\n\t'), (numbers, space) => {
        const text = `[${space}${numbers.map((value) => JSON.stringify(value)).join(`${space},${space}`)}${space}]`;
        expect(vectorWidth(json(text))).toBe(numbers.length);
      }),
    );
  });

  it('agrees with JSON itself about what is no array of numbers', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'01.-+eE, []n"'), maxLength: 12 }), (inside) => {
        const text = `[${inside}]`;
        let expected: number | null = null;
        try {
          const value: unknown = JSON.parse(text);
          if (
            Array.isArray(value) &&
            value.every((item) => Number.isFinite(Math.fround(item as number)) && typeof item === 'number')
          ) {
            expected = value.length;
          }
        } catch {
          // Not JSON: no width.
        }
        expect(vectorWidth(json(text))).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('conversion', () => {
  it('gives little-endian float32 in base64', () => {
    expect(encodeVector(json('[1,2]'), 'base64').toString()).toBe('AACAPwAAAEA=');
  });

  it('passes bytes of the wanted form through untouched', () => {
    const text = Buffer.from('[0.10000000149011612]');
    expect(encodeVector({ form: 'json', text }, 'float')).toBe(text);
    const encoded = Buffer.from('AACAPw==');
    expect(encodeVector({ form: 'base64', text: encoded }, 'base64')).toBe(encoded);
  });

  it('loses no bit of any finite float32 on the way to numbers and back', () => {
    fc.assert(
      fc.property(
        fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }),
        (values) => {
          const original = floats(...values);
          const encoded = encodeVector(original, 'base64');
          const asNumbers = encodeVector({ form: 'base64', text: encoded }, 'float');
          const back = encodeVector({ form: 'json', text: asNumbers }, 'base64');
          // JSON has no negative zero worth keeping; everything else is identical to the bit.
          const normal = (text: Buffer) => vectorValues({ form: 'base64', text }).map((value) => value + 0);
          expect(normal(back)).toEqual(normal(encoded));
        },
      ),
    );
  });

  it.each([json('[1,null]'), json('[1,"2"]'), json('[1e400]'), json('[1e39]'), floats(Number.NaN)])(
    'refuses %j, which is no vector of finite numbers',
    (vector) => {
      expect(() => vectorValues(vector)).toThrow(RangeError);
    },
  );

  it('sees every infinity and NaN', () => {
    expect(isFiniteVector(Float32Array.of(1, -Infinity))).toBe(false);
    expect(isFiniteVector(Float32Array.of(Number.NaN))).toBe(false);
    expect(isFiniteVector(Float32Array.of(3.4028234663852886e38, -0, 1e-45))).toBe(true);
  });
});

describe('shortening', () => {
  it('keeps the direction and gives length one', () => {
    expect(truncateAndNormalise(Float32Array.of(3, 4, 99), 2)).toEqual(Float32Array.of(0.6, 0.8));
  });

  it('leaves a vector of zeros as it is', () => {
    expect(truncateAndNormalise(Float32Array.of(0, 0, 1), 2)).toEqual(Float32Array.of(0, 0));
  });
});
