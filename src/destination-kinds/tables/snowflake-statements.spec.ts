import { describe, expect, it } from '@jest/globals';
import { describeStatement, mergeStatement, storedName } from './snowflake-statements.js';

describe('names as Snowflake stores them', () => {
  it.each([
    ['OPENROUTER_TRACES', 'OPENROUTER_TRACES'],
    ['traces', 'TRACES'],
    ['_a$1', '_A$1'],
    ['"traces"', 'traces'],
    ['"two "" quotes"', 'two " quotes'],
    ['my-table', 'my-table'],
    ['1st', '1st'],
    ['"', '"'],
    ['""', '""'],
    ['"a"b"', '"a"b"'],
    ['', ''],
  ])('%s is %s', (name, stored) => {
    expect(storedName(name)).toBe(stored);
  });

  it('cannot end their quotes', () => {
    const table = 'T" AS target; DROP TABLE "U';
    expect(describeStatement(table)).toBe('DESCRIBE TABLE "T"" AS target; DROP TABLE ""U"');
    expect(mergeStatement(table).split('\n')[0]).toBe('MERGE INTO "T"" AS target; DROP TABLE ""U" AS target');
  });
});

describe('the statement that stores', () => {
  it('has one bind for any batch', () => {
    expect(mergeStatement('T').match(/\?/g)).toHaveLength(1);
  });

  it('reads times from milliseconds, and JSON without a cast', () => {
    const lines = mergeStatement('T').split('\n');
    expect(lines).toContain('    TO_TIMESTAMP_NTZ(element.value:"TIMESTAMP"::NUMBER, 3) AS "TIMESTAMP",');
    expect(lines).toContain('    element.value:"TOTAL_COST"::NUMBER(24, 12) AS "TOTAL_COST",');
    expect(lines).toContain('    element.value:"INPUT" AS "INPUT",');
  });
});
