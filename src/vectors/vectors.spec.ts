import { describe, expect, it } from '@jest/globals';
import * as fc from '../../test/support/fast-check.js';
import { isFiniteVector } from './finite-vector.js';
import { encodeVector, isZeroVector, truncateAndNormalise, vectorValues, vectorWidth } from './vectors.js';
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
  it('agrees with JSON.parse about every array of numbers', () => {
    const number = fc.float({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(fc.array(number), fc.constantFrom('', ' ', '\n\t'), (numbers, space) => {
        const text = `[${space}${numbers.map((value) => JSON.stringify(value)).join(`${space},${space}`)}${space}]`;
        expect(vectorWidth(json(text))).toBe(numbers.length);
      }),
    );
  });

  const characters = fc.string({ unit: fc.constantFrom(...'01.-+eE, []n"'), maxLength: 12 });

  it('agrees with JSON.parse about texts that are no array of numbers', () => {
    fc.assert(
      fc.property(characters, (inside) => {
        expect(vectorWidth(json(`[${inside}]`))).toBe(widthByJson(`[${inside}]`));
      }),
      { numRuns: 2000 },
    );
  });

  it('agrees at every offset of a text, which is read in blocks of 64 bytes', () => {
    const numbers = fc.array(
      fc.stringMatching(/^-?(0|[1-9]\d{0,11})(\.\d{1,40})?([eE][+-]?0?[1-9])?$/).map((text) => `${text},`),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(numbers, fc.nat(64), characters, numbers, (before, shift, inside, after) => {
        const text = `[${before.join('')}0.${'7'.repeat(shift)}${inside},${after.join('')}1]`;
        expect(vectorWidth(json(text))).toBe(widthByJson(text));
      }),
      { numRuns: 5000 },
    );
  });

  it.each(Array.from({ length: 16 }, (_, shift) => shift))(
    'accepts 9 digits before the point, and decides 39 and 40 by their values, at offset %d',
    (shift) => {
      const start = `[0.${'5'.repeat(40 + shift)},`;
      expect(vectorWidth(json(`${start}-123456789.5,1]`))).toBe(3);
      expect(vectorWidth(json(`${start}${'3'.repeat(39)},1]`))).toBe(3);
      expect(vectorWidth(json(`${start}${'3'.repeat(40)},1]`))).toBeNull();
    },
  );

  it('checks a text that is longer than the memory of WebAssembly', () => {
    const numbers = Array.from({ length: 100_000 }, (_, index) => index / 7);
    expect(vectorWidth(json(JSON.stringify(numbers)))).toBe(numbers.length);
    expect(vectorWidth(json(`${JSON.stringify(numbers).slice(0, -1)},1e39]`))).toBeNull();
  });

  it('ignores bytes of the text before', () => {
    expect(vectorWidth(json(`[${'1,'.repeat(60)}"]`))).toBeNull();
    expect(vectorWidth(json('[0.25,1]'))).toBe(2);
  });
});

describe('the width of base64', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const bytesOfValues = fc
    .uint8Array({ maxLength: 80 })
    .map((bytes) => Buffer.from(bytes.subarray(0, bytes.length & ~3)));

  it('agrees with the values about every bit pattern', () => {
    fc.assert(
      fc.property(bytesOfValues, (bytes) => {
        const text = bytes.toString('base64');
        const values = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
        expect(vectorWidth(base64(text))).toBe(values.every(Number.isFinite) ? values.length : null);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([Infinity, -Infinity, Number.NaN])('finds %d at every place', (value) => {
    for (let at = 0; at < 24; at++) {
      const values = new Float32Array(24);
      values[at] = value;
      const text = Buffer.from(values.buffer).toString('base64');
      expect(vectorWidth(base64(text))).toBeNull();
    }
  });

  it('accepts the 64 characters of base64, and no other byte, at every place', () => {
    for (let byte = 0; byte < 256; byte++) {
      for (let at = 0; at < 32; at++) {
        const text = Buffer.from('A'.repeat(32));
        text[at] = byte;
        expect(vectorWidth({ form: 'base64', text })).toBe(
          alphabet.includes(String.fromCharCode(byte)) ? 6 : null,
        );
      }
    }
  });

  it('checks a text that is longer than the memory of WebAssembly', () => {
    const values = new Float32Array(200_000).fill(0.25);
    expect(vectorWidth(base64(Buffer.from(values.buffer).toString('base64')))).toBe(values.length);
    values[199_999] = Number.NaN;
    expect(vectorWidth(base64(Buffer.from(values.buffer).toString('base64')))).toBeNull();
  });
});

/** Computed from the values, as JSON.parse reads them. */
function widthByJson(text: string): number | null {
  try {
    const values: unknown = JSON.parse(text);
    const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(Math.fround(value));
    return Array.isArray(values) && values.every(isNumber) ? values.length : null;
  } catch {
    return null;
  }
}

describe('a vector of zeros', () => {
  it.each([
    [json('[0,0,0]'), true],
    [json('[-0, 0.000,\n0e5,-0.0E-19,0]'), true],
    [json('[0e1,2]'), false],
    [json('[0,0,1e-7]'), false],
    [json('[0.001]'), false],
    [json('[0e5,-9]'), false],
    [base64('AAAAAA=='), true],
    [floats(0, -0), true],
    [floats(0, 1e-45), false],
  ])('%j: %s', (vector, expected) => {
    expect(isZeroVector(vector)).toBe(expected);
  });

  it('is recognised in each form by its values, 0 or -0, in any notation', () => {
    const value = fc.constantFrom(0, -0, 1e-45, 2 ** -100, Number.MIN_VALUE, -1);
    fc.assert(
      fc.property(fc.array(value.map(Math.fround), { minLength: 1, maxLength: 12 }), (values) => {
        const isZero = values.every((one) => one === 0);
        const vector = floats(...values);
        expect(isZeroVector(vector)).toBe(isZero);
        expect(isZeroVector({ form: 'base64', text: encodeVector(vector, 'base64') })).toBe(isZero);
        expect(isZeroVector(json(JSON.stringify(values)))).toBe(isZero);
      }),
    );
  });

  it('differs from one whose base64 has the same characters', () => {
    for (let at = 0; at < 16; at++) {
      for (const character of 'gIC') {
        const text = Buffer.from('A'.repeat(16));
        text.write(character, at);
        const vector: Vector = { form: 'base64', text };
        expect(isZeroVector(vector)).toBe(vectorValues(vector).every((one) => one === 0));
      }
    }
  });
});

describe('conversion', () => {
  it('returns little-endian float32 in base64', () => {
    expect(encodeVector(json('[1,2]'), 'base64').toString()).toBe('AACAPwAAAEA=');
  });

  it('returns bytes of the requested form unchanged', () => {
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
    'rejects %j, which is no vector of finite numbers',
    (vector) => {
      expect(() => vectorValues(vector)).toThrow(RangeError);
    },
  );

  it('rejects every infinity and NaN', () => {
    expect(isFiniteVector(Float32Array.of(1, -Infinity))).toBe(false);
    expect(isFiniteVector(Float32Array.of(Number.NaN))).toBe(false);
    expect(isFiniteVector(Float32Array.of(3.4028234663852886e38, -0, 1e-45))).toBe(true);
  });
});

describe('shortening', () => {
  it('keeps the direction and gives length one', () => {
    expect(truncateAndNormalise(Float32Array.of(3, 4, 99), 2)).toEqual(Float32Array.of(0.6, 0.8));
  });

  it('leaves a vector of zeros unchanged', () => {
    expect(truncateAndNormalise(Float32Array.of(0, 0, 1), 2)).toEqual(Float32Array.of(0, 0));
  });
});
