import { describe, expect, it } from '@jest/globals';
import { isInUtf8, parseBody } from './body-text.js';

describe('parseBody', () => {
  it('reads what begins with a byte order mark, and takes nothing for an empty object', () => {
    expect(parseBody(Buffer.from('\ufeff{"a":1}'))).toEqual({ a: 1 });
    expect(parseBody(Buffer.alloc(0))).toEqual({});
  });

  it.each([
    ['entity.parse.failed', Buffer.from('{"a":')],
    ['charset.unsupported', Buffer.from([0x7b, 0xe9, 0x7d])],
  ])('refuses with %s', (type, bytes) => {
    expect(() => parseBody(bytes)).toThrow(expect.objectContaining({ type }));
  });
});

it.each([
  ['application/json', true],
  ['application/json; charset=utf8', true],
  ['application/json; a=b; Charset = "UTF-8"', true],
  ['application/json; charset=utf-16', false],
  ['application/json; charset=latin1; charset=utf-8', false],
  ['application/json; charset=', false],
])('is in UTF-8: %s is %s', (type, expected) => {
  expect(isInUtf8(type)).toBe(expected);
});
