import { describe, expect, it } from '@jest/globals';
import * as fc from '../../test/support/fast-check.js';
import { JsonScanner } from './json-scanner.js';

class Malformed extends Error {}

const cursorOver = (text: string | Buffer): JsonScanner =>
  new JsonScanner(Buffer.from(text as string), Malformed);

/** Reads a whole document with the cursor, down to the leaves. */
function readWhole(text: string): unknown {
  const cursor = cursorOver(text);
  const value = cursor.value();
  cursor.end();
  return value;
}

/** JSON text with arbitrary space between its tokens. */
function spaced(value: unknown, space: string): string {
  return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"|[[\]{},:]/g, (token) => `${space}${token}${space}`);
}

const anySpace = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 3 });

describe('a value', () => {
  it('equals the one of JSON.parse, with any content and spacing', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), anySpace, (value, space) => {
        const text = spaced(value, space);
        expect(readWhole(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it('is malformed above a mebibyte, whatever it is', () => {
    const text = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`;
    expect(readWhole(text(1_048_576))).toHaveLength(1_048_574);
    expect(() => readWhole(text(1_048_577))).toThrow(Malformed);
    expect(() => readWhole(`[${'[],'.repeat(400_000)}[]]`)).toThrow('more than 1048576 bytes to convert');
  });

  it('throws Malformed, and nothing else, wherever JSON.parse throws', () => {
    const fragments = fc.constantFrom(
      ...'{}[]:, "\\01.-eEtn',
      'true',
      'null',
      '\\"',
      '\\u00',
      '\n',
      '"a"',
      '\u0000',
    );
    fc.assert(
      fc.property(fc.string({ unit: fragments, maxLength: 12 }), (text) => {
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(() => readWhole(text)).toThrow(Malformed);
          return;
        }
        expect(readWhole(text)).toEqual(expected);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    '{"text":"a quote \\" and a backslash \\\\"}',
    '["\\\\","\\\\\\"","\\\\\\\\"]',
    '{"\\"]}":["]}\\\\"]}',
    '"\\ud83d\\ude00 \u{1f600} \\u0000"',
    '{"":{"":[{}]}}',
  ])('ends where its strings and brackets end: %s', (text) => {
    expect(readWhole(text)).toEqual(JSON.parse(text));
  });

  it('may follow a byte order mark', () => {
    expect(readWhole('\ufeff{"a":1}')).toEqual({ a: 1 });
  });

  it.each(['[', '{"a":'])('throws when %s is nested without end', (opening) => {
    expect(() => readWhole(opening.repeat(100_000))).toThrow(Malformed);
    expect(() => cursorOver(opening.repeat(100_000)).skipValue()).toThrow(Malformed);
  });

  it('may be nested as deeply as answers are', () => {
    const text = '['.repeat(50) + ']'.repeat(50);
    expect(readWhole(text)).toEqual(JSON.parse(text));
  });
});

describe('the members of an object', () => {
  const namesIn = (text: string): string[] => {
    const names: string[] = [];
    const cursor = cursorOver(text);
    cursor.eachMember((name) => {
      names.push(name);
      cursor.skipValue();
    });
    cursor.end();
    return names;
  };

  it('are passed with their unescaped names, in their order', () => {
    const names = namesIn(' { "data" : 1 , "\\u0075sage":{"a":[1,{}]},"":[] } ');
    expect(names).toEqual(['data', 'usage', '']);
  });

  it('have the names that JSON.stringify has written, short or long, plain or escaped', () => {
    const name = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.string({ unit: fc.constantFrom('a', '_', '"', '\\', '\n', '\u007f', 'é'), maxLength: 40 }),
    );
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 5 }), (names) => {
        const members = names.map((each) => `${JSON.stringify(each)}: 1`);
        expect(namesIn(`{${members.join(', ')}}`)).toEqual(names);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    '',
    '[]',
    '{',
    '{"a"',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{a:1}',
    '{1:1}',
    '{null:1}',
    '{"a" 1}',
    '{"a\n":1}',
    '{"a\\x":1}',
    `{"${'a'.repeat(40)}`,
    '1',
  ])('are not found in %j', (text) => {
    expect(() => namesIn(text)).toThrow(Malformed);
  });
});

describe('the elements of an array', () => {
  it.each([
    ['[]', 0],
    [' [ ] ', 0],
    ['[1, [2, 3], {"a": [4]}]', 3],
  ])('of %s are counted', (text, expected) => {
    let count = 0;
    const cursor = cursorOver(text);
    cursor.eachElement(() => {
      count++;
      cursor.skipValue();
    });
    cursor.end();
    expect(count).toBe(expected);
  });

  it.each(['', '{}', '[', '[1', '[1,', '[1,]', '[,1]', '[1 2]', 'null'])('are not found in %j', (text) => {
    const cursor = cursorOver(text);
    expect(() => cursor.eachElement(() => cursor.skipValue())).toThrow(Malformed);
  });
});

describe('the bytes of a vector', () => {
  it('are a slice of the document, not a copy', () => {
    const document = Buffer.from('["AACAPw==",[1, 2]]');
    const cursor = new JsonScanner(document, Malformed);
    const slices: Buffer[] = [];
    cursor.eachElement(() => slices.push(cursor.isString() ? cursor.plainString() : cursor.flatArray()));
    cursor.end();
    expect(slices.map(String)).toEqual(['AACAPw==', '[1, 2]']);
    expect(slices.map(({ buffer }) => buffer)).toEqual([document.buffer, document.buffer]);
  });

  it('are those that escapes stand for', () => {
    expect(cursorOver('"a\\/b\\u002b="').plainString().toString()).toBe('a/b+=');
  });

  it('never become base64 that was not sent', () => {
    // U+0141 is "A" to a reader that keeps the low byte only.
    expect(cursorOver('"\\u0141\\/"').plainString().toString('latin1')).not.toBe('A/');
  });

  it.each(['"AAC', '"AAC\\', '"AAC\\"', '[1, 2', '', '{}'])('are not found in %j', (text) => {
    const read = (): unknown => {
      const cursor = cursorOver(text);
      return cursor.isString() ? cursor.plainString() : cursor.flatArray();
    };
    expect(read).toThrow(Malformed);
  });
});

describe('the end', () => {
  it.each(['{} ', '{}\n\t\r'])('is reached behind the space of %j', (text) => {
    const cursor = cursorOver(text);
    cursor.skipValue();
    expect(() => cursor.end()).not.toThrow();
  });

  it.each(['{}{}', '{}]', '{} 1', '{},'])('is not reached in %j, after the object', (text) => {
    const cursor = cursorOver(text);
    cursor.skipValue();
    expect(() => cursor.end()).toThrow(Malformed);
  });
});
