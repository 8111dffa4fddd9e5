// The bodies that are read without the body reader, and their values.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { isInUtf8, isPlainBody, parsePlainBody, takeArrivedBody } from './plain-body.js';

const LIMIT = 100;
const PLAIN = { 'content-type': 'application/json', 'content-length': '7' };

function requestOf(...chunks: readonly Uint8Array[]): PassThrough & IncomingMessage {
  const request = new PassThrough();
  for (const chunk of chunks) request.write(chunk);
  return request as PassThrough & IncomingMessage;
}

describe('isPlainBody', () => {
  it.each([
    [true, PLAIN],
    [true, { ...PLAIN, 'content-length': '100' }],
    [true, { ...PLAIN, 'content-length': '0' }],
    ...['; charset=utf-8', ';charset=UTF8', '; charset="utf-8" '].map(
      (parameter) => [true, { ...PLAIN, 'content-type': `application/json${parameter}` }] as const,
    ),
    [true, { ...PLAIN, 'content-type': 'application/vnd.api+json' }],
    [false, { ...PLAIN, 'content-length': '101' }],
    [false, { 'content-type': 'application/json' }],
    [false, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }],
    [true, { ...PLAIN, 'content-encoding': 'identity' }],
    [false, { ...PLAIN, 'content-encoding': 'gzip' }],
    [false, { ...PLAIN, 'content-type': 'application/json; charset=latin1' }],
    [false, { ...PLAIN, 'content-type': 'application/json; charset=utf-8; charset=latin1' }],
    [false, { ...PLAIN, 'content-type': 'text/plain' }],
  ] as const)('is %s for %o', (expected, headers) => {
    expect(isPlainBody({ headers }, LIMIT)).toBe(expected);
  });
});

describe('takeArrivedBody', () => {
  const BODY = Buffer.from('{"a":1}');
  const arrivedOf = (complete: boolean, length: number, ...chunks: readonly Uint8Array[]) =>
    Object.assign(requestOf(...chunks), { complete, headers: { 'content-length': `${length}` } });

  it.each([
    ['in one piece', [BODY]],
    ['in two', [BODY.subarray(0, 3), BODY.subarray(3)]],
    ['and is empty', []],
  ])('returns a body that arrived %s, and ends the request', async (_how, chunks) => {
    const length = Buffer.concat(chunks).length;
    const request = arrivedOf(true, length, ...chunks);
    request.end();
    const hasEnded = once(request, 'end');
    expect(takeArrivedBody(request)).toEqual(Buffer.concat(chunks));
    await hasEnded;
  });

  it('returns null for an incomplete body, and for a caller that has disconnected', () => {
    const unfinished = arrivedOf(false, BODY.length, BODY.subarray(0, 3));
    const left = arrivedOf(true, BODY.length, BODY);
    left.destroy();
    for (const request of [unfinished, left, arrivedOf(true, 0, BODY)])
      expect(takeArrivedBody(request)).toBeNull();
    expect(unfinished.read()).toEqual(BODY.subarray(0, 3));
  });
});

describe('parsePlainBody', () => {
  it('skips a byte order mark, and returns an empty object for an empty body', () => {
    expect(parsePlainBody(Buffer.from('\ufeff{"a":1}'))).toEqual({ a: 1 });
    expect(parsePlainBody(Buffer.alloc(0))).toEqual({});
  });

  it.each([
    ['entity.parse.failed', Buffer.from('{"a":')],
    ['charset.unsupported', Buffer.from([0x7b, 0xe9, 0x7d])],
  ])('rejects with %s', (type, bytes) => {
    expect(() => parsePlainBody(bytes)).toThrow(expect.objectContaining({ type }));
  });
});

it.each([
  ['application/json', true],
  ['application/json; charset=utf8', true],
  ['application/json; a=b; Charset = "UTF-8"', true],
  ['application/json; charset=utf-16', false],
  ['application/json; charset=latin1; charset=utf-8', false],
  ['application/json; charset=', false],
])('isInUtf8 of %s returns %s', (type, expected) => {
  expect(isInUtf8(type)).toBe(expected);
});
