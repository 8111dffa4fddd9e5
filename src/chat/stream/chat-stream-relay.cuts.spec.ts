// Reads of an upstream end anywhere: the client's bytes and the state of the relay must not depend on where.
import { describe, expect, it } from '@jest/globals';
import { relayed } from '../../../test/support/chat/relay.js';
import { expectSameWhereverCut, piecesOf } from '../../../test/support/chat/pieces.js';
import { UPSTREAM_STREAMS } from '../../../test/support/chat/upstream-streams.js';

describe('a stream', () => {
  it.each(UPSTREAM_STREAMS.map((stream) => [stream.name, stream] as const))(
    'is the same wherever it is cut: %s',
    (_name, stream) => expectSameWhereverCut(stream),
  );
});

const END = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const TEXT = 'word \\n\\u00e9 漢 '.repeat(22_000);
const READ = 65_536;
const chunk = (delta: string, more = ''): string => `{"choices":[{"index":0,"delta":${delta}}]${more}}`;

describe('an event that is longer than what is read at once', () => {
  it.each([
    [true, 'a text', `data: ${chunk(`{"content":"${TEXT}"}`)}\n\n`],
    [true, 'a byte order mark and ends of two bytes', `\ufeffdata:${chunk(`{"content":"${TEXT}"}`)}\r\n\r\n`],
    [
      true,
      'unknown members',
      `data: ${chunk('{"content":"x"}', `,"x":[{"y":"${TEXT}"},[[1,-2.5e3,true,null]]]`)}\n\n`,
    ],
    [
      true,
      'arguments of a call',
      `data: ${chunk(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"${TEXT}"}}]}`)}\n\n`,
    ],
    [true, 'a second line', `data: {"choices":\ndata: [{"index":0,"delta":{"content":"${TEXT}"}}]}\n\n`],
    [true, 'a long first line', `data: {"choices":[{"index":0,"delta":{"content":"${TEXT}"}}\ndata: ]}\n\n`],
    [false, 'an error', `event: error\ndata: {"error":{"message":"${TEXT}"}}\n\n`],
    [false, 'no JSON', `data: ${'{"a":1}'.repeat(60_000)}\n\n`],
    [false, 'no end', `data: {"choices":[{"index":0,"delta":{"content":"${TEXT}`],
  ])('%s: is the same wherever it is cut: %s', (isAnswer, _name, event) => {
    const body = Buffer.from(event + END);
    const whole = relayed({}, [body]);
    expect(whole.failure === null).toBe(isAnswer);
    for (const first of [1, 5, 6, 7, 40, 1_000, READ]) {
      const cuts = Array.from(
        { length: Math.ceil((body.length - first) / READ) },
        (_, nth) => first + nth * READ,
      );
      expect(relayed({}, piecesOf(body, cuts))).toEqual(whole);
    }
  });
});
