// Streams of the wires Messages and Responses, and those that are translated: reads of an upstream end anywhere, and the client's bytes must not
// depend on where.
import { describe, expect, it } from '@jest/globals';
import { relayed } from '../../../test/support/chat/relay.js';
import { expectSameWhereverCut } from '../../../test/support/chat/pieces.js';
import type { ModelWire } from '../../domain/chat/model-wire.js';
import { UPSTREAM_STREAMS } from '../../../test/support/chat/upstream-streams.js';
import type { UpstreamStream } from '../../../test/support/chat/upstream-streams.js';
import { GEMINI_STREAMS } from '../../../test/support/gemini/gemini-streams.js';
import { MESSAGES_STREAMS } from '../../../test/support/messages/messages-streams.js';
import { RESPONSES_STREAMS } from '../../../test/support/responses/responses-streams.js';
import { readMessageStream } from '../../../test/support/messages/read-messages-stream.js';

const toClient =
  (client: ModelWire) =>
  (stream: UpstreamStream): UpstreamStream =>
    Object.assign({}, stream, { client });
const NATIVE_STREAMS = [...MESSAGES_STREAMS, ...RESPONSES_STREAMS];
const TO_CHAT = [...NATIVE_STREAMS, ...GEMINI_STREAMS].map(toClient('chat'));
const CHAT_STREAMS = UPSTREAM_STREAMS.filter(({ choiceCount = 1 }) => choiceCount === 1);
const TO_MESSAGES = [...CHAT_STREAMS, ...GEMINI_STREAMS].map(toClient('messages'));
const TO_RESPONSES = [...CHAT_STREAMS, ...MESSAGES_STREAMS, ...GEMINI_STREAMS].map(toClient('responses'));

describe.each([
  ['in its own wire', NATIVE_STREAMS],
  ['to a client of Chat', TO_CHAT],
  ['to a client of Messages', TO_MESSAGES],
  ['to a client of Responses', TO_RESPONSES],
] as const)('a stream %s', (_way, streams) => {
  it.each(streams.map((stream) => [stream.name, stream] as const))(
    'is the same wherever it is cut: %s',
    (_name, stream) => expectSameWhereverCut(stream),
  );
});

describe('a client of Messages', () => {
  const streams = [...TO_MESSAGES, ...RESPONSES_STREAMS.map(toClient('messages'))];

  it.each(streams.map((stream) => [stream.name, stream] as const))(
    'gets every event in its order: %s',
    (_name, stream) => {
      const { output, last, failure } = relayed(stream, [stream.body]);
      if (failure === null) {
        const { start, delta, isStopped } = readMessageStream(output + last);
        expect(start).toMatchObject({ role: 'assistant', usage: { input_tokens: 11, output_tokens: 1 } });
        expect([typeof delta?.['stop_reason'], isStopped]).toEqual(['string', true]);
      }
    },
  );
});
