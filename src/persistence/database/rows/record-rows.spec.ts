// The text of records; generation-log.int-spec.ts shows that PostgreSQL reads them correctly.
import { describe, expect, it } from '@jest/globals';
import { writeRecords } from './record-rows.js';

const write = (...values: unknown[]): string =>
  writeRecords(
    values.map((_value, index) => String(index)),
    [Object.fromEntries(values.entries())],
  );

describe('a record', () => {
  it('leaves null values empty and quotes empty texts', () => {
    expect(write(null, undefined, '')).toBe(String.raw`{"(,,\"\")"}`);
  });

  it('writes numbers, booleans, dates and plain texts unquoted', () => {
    expect(write(1, -2.5, 3n, true, new Date(0), 'openai/text-embedding-3-small')).toBe(
      '{"(1,-2.5,3,true,1970-01-01T00:00:00.000Z,openai/text-embedding-3-small)"}',
    );
  });

  it('escapes twice: for the record, and for the array', () => {
    expect(write('a "b" \\')).toBe(String.raw`{"(\"a \\\"b\\\" \\\\\")"}`);
  });

  it('writes objects as JSON', () => {
    expect(write({ a: 'b' })).toBe(String.raw`{"(\"{\\\"a\\\":\\\"b\\\"}\")"}`);
  });

  it.each([
    ['a\0b', 'a\ufffdb'],
    ['\\u0000', '\\u0000'],
    ['\\\0', '\\\ufffd'],
    ['\ud83d', '\ufffd'],
    ['😀', '😀'],
    ['\ud83d\0\ude00\0', '\ufffd\ufffd\ufffd\ufffd'],
  ])('replaces what PostgreSQL cannot store: %j', (text, stored) => {
    expect(write({ [text]: [text] })).toBe(write({ [stored]: [stored] }));
    expect(write(text).toWellFormed()).toBe(write(stored));
  });

  it('writes an empty list unquoted', () => {
    expect(write([])).toBe('{"([])"}');
  });

  it('writes several values in the order of the columns', () => {
    const rows = [
      { one: 1, two: 2 },
      { two: 4, one: 3 },
    ];
    expect(writeRecords(['two', 'one'], rows)).toBe('{"(2,1)","(4,3)"}');
    expect(writeRecords(['one'], [])).toBe('{}');
  });
});
