// What PostgreSQL is handed as records; that it reads them as they were meant, generation-log.int-spec.ts shows.
import { describe, expect, it } from '@jest/globals';
import { writeRecords } from './record-rows.js';

const write = (...values: unknown[]): string =>
  writeRecords(
    values.map((_value, index) => String(index)),
    [Object.fromEntries(values.entries())],
  );

describe('a record', () => {
  it('leaves empty what is null, and quotes an empty text', () => {
    expect(write(null, undefined, '')).toBe(String.raw`{"(,,\"\")"}`);
  });

  it('writes numbers, booleans, dates and plain texts as they are', () => {
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

  it('leaves an empty list as it is', () => {
    expect(write([])).toBe('{"([])"}');
  });

  it('stands beside others, in the order of the columns', () => {
    const rows = [
      { one: 1, two: 2 },
      { two: 4, one: 3 },
    ];
    expect(writeRecords(['two', 'one'], rows)).toBe('{"(2,1)","(4,3)"}');
    expect(writeRecords(['one'], [])).toBe('{}');
  });
});
