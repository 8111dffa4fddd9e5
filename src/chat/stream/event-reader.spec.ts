import { expect, it } from '@jest/globals';
import { EventReader } from './event-reader.js';

function eventsOf(...pieces: readonly string[]): string[] {
  const events: string[] = [];
  const reader = new EventReader(1_000, (bytes, from, to, { kind }) => {
    events.push((kind === 'error' ? 'error: ' : '') + bytes.toString('utf8', from, to));
  });
  for (const piece of pieces) reader.push(Buffer.from(piece));
  reader.end();
  return events;
}

it.each([
  ['LF', 'data: a\n\ndata: b\n\n', ['a', 'b']],
  ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
  ['CR', 'data: a\r\rdata: b\r\r', ['a', 'b']],
  ['mixed line ends', 'data: a\r\n\ndata: b\n\rdata: c\r\n\r\n', ['a', 'b', 'c']],
  ['no space', 'data:a\n\n', ['a']],
  ['two spaces', 'data:  a\n\n', [' a']],
  ['several lines', 'data: a\ndata:\ndata: b\n\n', ['a\n\nb']],
  ['a data line without a colon', 'data\n\n', ['']],
  ['a byte order mark', '\ufeffdata: a\n\n', ['a']],
  ['comments and other fields', ': x\nid: 1\nretry: 5\ndatas: z\ndata: a\nfoo\n\n', ['a']],
  ['a named event', 'event: message\ndata: a\n\n', ['a']],
  ['an error', 'event: error\ndata: a\n\ndata: b\n\n', ['error: a', 'b']],
  ['an error after its data', 'data: a\nevent: error\n\n', ['error: a']],
  ['blank lines', '\n\n\ndata: a\n\n\n\n', ['a']],
  ['a last event without an end', 'data: a\n\ndata: b', ['a', 'b']],
  ['an event without data', 'event: error\n\ndata: a\n\n', ['a']],
])('reads %s', (_name, text, events) => {
  expect(eventsOf(text)).toEqual(events);
  expect(eventsOf(...text)).toEqual(events);
});

it.each([
  ['a line', ['x'.repeat(600), 'y'.repeat(600)]],
  ['a comment', [`: ${'x'.repeat(1_000)}\n`]],
  ['several lines of data', [`data: ${'x'.repeat(600)}\n`, `data: ${'y'.repeat(600)}\n`]],
])('rejects %s above the limit', (_name, pieces) => {
  expect(() => eventsOf(...pieces)).toThrow('an event of the stream is larger than 1000 bytes');
});

it('many short lines of one event take time in proportion to them', () => {
  let size = 0;
  const reader = new EventReader(8_000_000, (_bytes, from, to) => (size = to - from));
  const lines = Buffer.from('data: x\n'.repeat(1_000));
  for (let count = 0; count < 500; count++) reader.push(lines);
  reader.end();
  expect(size).toBe(1_000_000 - 1);
});

it('rejects an event of several lines above 1 MiB, which are read at their end only', () => {
  const reader = new EventReader(8_000_000, () => undefined);
  const line = Buffer.from(`data: ${'x'.repeat(600_000)}\n`);
  reader.push(line);
  expect(() => reader.push(line)).toThrow('an event of the stream is larger than 1048576 bytes');
});
