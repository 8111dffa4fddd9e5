import * as fc from '../../../test/support/fast-check.js';
import { expect, it } from '@jest/globals';
import { replaceLoneSurrogates } from './well-formed-bytes.js';

const replaced = (json: string): string => {
  const bytes = Buffer.from(json);
  replaceLoneSurrogates(bytes);
  return bytes.toString();
};

it.each([
  [String.raw`"\ud800"`, String.raw`"\ufffd"`],
  [String.raw`"\uDC00\uD83D"`, String.raw`"\ufffd\ufffd"`],
  [String.raw`"\uD83D\uDE42"`, String.raw`"\uD83D\uDE42"`],
  [String.raw`"\ud83d\ud83d\ude42"`, String.raw`"\ufffd\ud83d\ude42"`],
  [String.raw`"\ud83d\n\ude42"`, String.raw`"\ufffd\n\ufffd"`],
  [String.raw`"\\ud800"`, String.raw`"\\ud800"`],
  [String.raw`"\\\ud800"`, String.raw`"\\\ufffd"`],
  [
    String.raw`{"\ud800":1e400,"seed":9007199254740993}`,
    String.raw`{"\ufffd":1e400,"seed":9007199254740993}`,
  ],
])('%s becomes %s', (json, expected) => {
  expect(replaced(json)).toBe(expected);
});

it('gives the well-formed text of any text, however it is escaped', () => {
  const unit = fc.oneof(
    fc.integer({ min: 0xd700, max: 0xe000 }),
    fc.constantFrom(0x5c, 0x75, 0x64, 0x22, 0x20, 0xe9),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(unit, fc.boolean()), { maxLength: 30 }), (units) => {
      const text = String.fromCharCode(...units.map(([code]) => code));
      const escaped = units.map(([code, isForced]) =>
        isForced
          ? `\\u${code.toString(16).padStart(4, '0')}`
          : JSON.stringify(String.fromCharCode(code)).slice(1, -1),
      );
      expect(JSON.parse(replaced(`"${escaped.join('')}"`))).toBe(text.toWellFormed());
    }),
  );
});

it('takes time in proportion to the bytes', () => {
  const bytes = Buffer.from(`"${'\\\\'.repeat(2_000_000)}${'\\ud800'.repeat(500_000)}"`);
  const before = process.cpuUsage();
  expect(replaceLoneSurrogates(bytes)).toBe(true);
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
});
