// Frames of AWS, written by the vendor's own codec, wherever the reads are cut.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { chunkFrame, eventFrame, exceptionFrame } from '../../../test/support/bedrock/frames.js';
import { expectSameWhereverCut, piecesOf } from '../../../test/support/chat/pieces.js';
import { relayed } from '../../../test/support/chat/relay.js';
import type { UpstreamStream } from '../../../test/support/chat/upstream-streams.js';
import { RICH_EVENTS } from '../../../test/support/messages/messages-stub.js';
import { bedrock } from '../../providers/bedrock.js';
import { wrappedFrame } from '../../providers/shared/wires/event-frames.js';
import { BrokenAnswer } from '../../providers/shared/provider.js';
import { AnswerBoundExceeded } from '../../providers/shared/wires/answer-events.js';
import { FrameReader } from './frame-reader.js';

const read = (pieces: Iterable<Buffer>, most = 1_000_000): string[] => {
  const documents: string[] = [];
  const reader = new FrameReader({ documentOf: wrappedFrame }, most, (bytes, from, to, { kind }) =>
    documents.push(`${kind} ${bytes.toString('utf8', from, to)}`),
  );
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return documents;
};

describe('frames', () => {
  it('are events with their type, wherever the reads are cut', () => {
    const events = fc.array(
      fc.record({
        type: fc.stringMatching(/^[a-zA-Z]{1,20}$/),
        payload: fc.dictionary(fc.string(), fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer())),
      }),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(events, fc.array(fc.nat(2_000), { maxLength: 20 }), (list, cuts) => {
        const body = Buffer.concat(list.map(({ type, payload }) => eventFrame(type, payload)));
        const places = cuts.filter((cut) => cut < body.length).toSorted((one, other) => one - other);
        expect(read(piecesOf(body, places))).toEqual(
          list.map(({ type, payload }) => `message ${JSON.stringify({ [type]: payload })}`),
        );
      }),
    );
  });

  it('state an exception as an error with its kind and status', () => {
    expect(read([exceptionFrame('throttlingException', 'Slow down.')])).toEqual([
      'error {"__type":"ThrottlingException","message":"Slow down.","status":429}',
    ]);
  });

  it('with any flipped bit, or without their end, are broken', () => {
    const frame = eventFrame('contentBlockDelta', { delta: { text: 'Hello' } });
    fc.assert(
      fc.property(fc.nat(frame.length - 1), fc.nat(7), (at, bit) => {
        const flipped = Buffer.from(frame);
        flipped[at] = flipped[at]! ^ (1 << bit);
        expect(() => read([flipped])).toThrow(BrokenAnswer);
      }),
    );
    for (let end = 1; end < frame.length; end++)
      expect(() => read([frame.subarray(0, end)])).toThrow('the stream ended inside of a frame');
  });

  it('above the bound of an event end the answer before they have come', () => {
    const frame = eventFrame('contentBlockDelta', { delta: { text: 'x'.repeat(2_000) } });
    expect(() => read([frame.subarray(0, 20)], 1_000)).toThrow(AnswerBoundExceeded);
  });
});

const claude = bedrock.otherWires![0]!;
const nova = bedrock.chat!;
const delta = (contentBlockIndex: number, inner: object) =>
  eventFrame('contentBlockDelta', { contentBlockIndex, delta: inner });
const CONVERSE: readonly Buffer[] = [
  eventFrame('messageStart', { role: 'assistant' }),
  delta(0, { reasoningContent: { text: 'Hm "é"' } }),
  delta(0, { reasoningContent: { signature: 'sig' } }),
  eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
  delta(1, { text: 'Hello \u{1f600}' }),
  eventFrame('unknownEvent', { some: 'thing' }),
  eventFrame('contentBlockStop', { contentBlockIndex: 1 }),
  eventFrame('contentBlockStart', {
    contentBlockIndex: 2,
    start: { toolUse: { toolUseId: 't1', name: 'look' } },
  }),
  delta(2, { toolUse: { input: '{"a":' } }),
  delta(2, { toolUse: { input: '1}' } }),
  eventFrame('contentBlockStop', { contentBlockIndex: 2 }),
  eventFrame('messageStop', { stopReason: 'tool_use' }),
  eventFrame('metadata', { usage: { inputTokens: 5, outputTokens: 7, totalTokens: 12 } }),
];

describe('a stream of frames', () => {
  it.each(['chat', 'messages', 'responses'] as const)(
    'reads the same for a client of %s wherever it is cut',
    (client) => {
      const streams: Partial<UpstreamStream>[] = [
        { body: Buffer.concat(CONVERSE), client, protocol: 'converse', wire: nova },
        { body: Buffer.concat(RICH_EVENTS.map(chunkFrame)), client, protocol: 'messages', wire: claude },
      ];
      for (const stream of streams) expectSameWhereverCut(stream as UpstreamStream);
    },
  );

  it('of Converse has its texts, calls, usage and finish reason', () => {
    const { choices, usage, signatures, failure } = relayed(
      { client: 'chat', protocol: 'converse', wire: nova },
      CONVERSE,
    );
    expect(failure).toBeNull();
    expect(choices).toMatchObject([
      {
        content: 'Hello \u{1f600}',
        reasoning: 'Hm "é"',
        toolCalls: [{ id: 't1', name: 'look', arguments: '{"a":1}' }],
        finishReason: 'tool_calls',
        nativeFinishReason: 'tool_use',
      },
    ]);
    expect(usage).toMatchObject({ promptTokens: 5, completionTokens: 7 });
    expect(signatures).toEqual(['sig']);
  });
});
