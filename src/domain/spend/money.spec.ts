import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { formatUsd, parseUsd, parseUsdPerMillion, usdToNumber } from './money.js';

describe('amounts of money', () => {
  it.each([
    ['0', 0n],
    ['1', 1_000_000_000_000n],
    ['0.02', 20_000_000_000n],
    ['-3.5', -3_500_000_000_000n],
    ['2e-8', 20_000n],
    [1e-7, 100_000n],
    ['1.5e3', 1_500_000_000_000_000n],
  ])('reads %s exactly', (text, expected) => {
    expect(parseUsd(text)).toBe(expected);
  });

  it.each(['', 'abc', '1,5', 'NaN', 'Infinity', '0x10', '1e9999'])('rejects %p', (text) => {
    expect(() => parseUsd(text)).toThrow(RangeError);
  });

  it('rejects a text that takes long to read, and does not repeat it', () => {
    expect(parseUsd('9'.repeat(100))).toBe(10n ** 112n - 10n ** 12n);
    for (const text of ['9'.repeat(101), `0.${'0'.repeat(100)}`, ' '.repeat(101), '9'.repeat(20_000_000)]) {
      expect(() => parseUsd(text)).toThrow(new RangeError('too long for an amount of money'));
    }
  });

  it('rejects amounts finer than the unit instead of rounding', () => {
    expect(() => parseUsd('1e-13')).toThrow(/finer/);
  });

  it('survives a round trip through text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), (amount) => {
        expect(parseUsd(formatUsd(amount))).toBe(amount);
      }),
    );
  });

  it('becomes the nearest double on the wire', () => {
    expect(usdToNumber(parseUsd('0.1') + parseUsd('0.2'))).toBe(0.3);
    const limit = BigInt(Number.MAX_SAFE_INTEGER);
    fc.assert(
      fc.property(fc.bigInt({ min: -2n * limit, max: 2n * limit }), (amount) => {
        expect(usdToNumber(amount)).toBe(Number(formatUsd(amount)));
      }),
      { examples: [[0n], [limit], [-limit], [limit + 1n], [1n]] },
    );
  });
});

describe('a price of a million tokens', () => {
  it.each([
    ['0.02', 20_000n],
    [120, 120_000_000n],
    ['0.000001', 1n],
    ['0', 0n],
    ['0.0000019', 1n],
    ['0.0000009', 0n],
  ])('of %s USD is one millionth per token, rounded down', (usd, perToken) => {
    expect(parseUsdPerMillion(usd)).toBe(perToken);
  });

  it('is rejected where an amount would be', () => {
    expect(() => parseUsdPerMillion('free')).toThrow(RangeError);
  });
});
