// Streams of other wires as clients of the Responses wire join them.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { answerEnd, ANSWER_OPTIONS } from '../../../test/support/chat/relay.js';
import {
  openAiChunk,
  openAiFinish,
  sse,
  UPSTREAM_STREAMS,
} from '../../../test/support/chat/upstream-streams.js';
import { GEMINI_STREAMS } from '../../../test/support/gemini/gemini-streams.js';
import { MESSAGES_STREAMS } from '../../../test/support/messages/messages-streams.js';
import {
  accumulated,
  parsedEvents,
  relayedResponse,
  RESPONSES_FORM,
} from '../../../test/support/responses/relayed-response.js';
import { wholePassage } from './passages.js';

const STREAMS = [
  ...UPSTREAM_STREAMS.filter(({ choiceCount = 1 }) => choiceCount === 1),
  ...MESSAGES_STREAMS,
  ...GEMINI_STREAMS,
];

describe.each(STREAMS)('$name', (stream) => {
  const whole = relayedResponse(stream, [stream.body]);

  it('has items that the SDK joins to those of the last event', () => {
    const { joined, last } = accumulated(parsedEvents(whole));
    if (last.status === 'failed') expect(last.error).not.toBeNull();
    else expect(joined.output).toEqual(last.output);
  });
});

const text = fc.string({ unit: 'grapheme', minLength: 1 });
const piece = fc.oneof(
  fc.record({ content: text }),
  fc.record({ reasoning: text }),
  fc.record({ refusal: text }),
);
const calls = fc.uniqueArray(
  fc.record({ name: fc.constantFrom('look', 'patch'), input: text, id: fc.nat().map((n) => `call_${n}`) }),
  { maxLength: 4, selector: ({ id }) => id },
);

describe('a random answer', () => {
  it('joins in the SDK to the items of its last event and of the whole answer', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), calls, fc.nat(), (deltas, made, seed) => {
        const spelled = made.map(({ input }) => JSON.stringify({ input }));
        // Fragments of parallel calls in turns.
        const fragments = spelled.flatMap((json, index) =>
          [...json].map((letter, at) => ({ order: at * made.length + index, index, letter })),
        );
        const chunks = [
          ...deltas,
          ...made.map(({ id, name }, index) => ({
            tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
          })),
          ...fragments
            .toSorted((one, other) => one.order - other.order)
            .map(({ index, letter }) => ({ tool_calls: [{ index, function: { arguments: letter } }] })),
        ].map((delta) => openAiChunk(delta));
        const finish = made.length > 0 ? 'tool_calls' : 'stop';
        const body = Buffer.from(sse(...chunks, openAiFinish(finish), '[DONE]'));
        const cut = seed % (body.length + 1);
        const events = parsedEvents(
          relayedResponse({}, [Buffer.from(body.subarray(0, cut)), Buffer.from(body.subarray(cut))]),
        );
        const { joined, last } = accumulated(events);
        expect(joined.output).toEqual(last.output);
        expect(wholeTexts(deltas, made, finish)).toEqual(textsOf(last.output));
      }),
    );
  });
});

/** The texts of a kind in one, and each call: a whole answer has no order of its texts. */
function textsOf(output: readonly object[]): object {
  const joined: Record<string, string> = {};
  const made: object[] = [];
  for (const item of output as readonly Record<string, unknown>[]) {
    const parts = (item['content'] ?? []) as { type: string; text?: string; refusal?: string }[];
    for (const { type, text: plain, refusal } of parts)
      joined[type] = (joined[type] ?? '') + (plain ?? refusal ?? '');
    if ('call_id' in item)
      made.push({ type: item['type'], id: item['call_id'], text: item['arguments'] ?? item['input'] });
  }
  return { joined, made };
}

function wholeTexts(
  deltas: readonly { content?: string; reasoning?: string; refusal?: string }[],
  made: readonly { id: string; name: string; input: string }[],
  finish: string,
): object {
  const join = (name: 'content' | 'reasoning' | 'refusal') =>
    deltas.map((delta) => delta[name] ?? '').join('');
  const message = {
    role: 'assistant',
    content: join('content') || null,
    ...(join('reasoning') && { reasoning: join('reasoning') }),
    ...(join('refusal') && { refusal: join('refusal') }),
    ...(made.length > 0 && {
      tool_calls: made.map(({ id, name, input }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify({ input }) },
      })),
    }),
  };
  const passage = wholePassage({ ...ANSWER_OPTIONS, client: 'responses', responses: RESPONSES_FORM });
  const body = Buffer.from(JSON.stringify({ choices: [{ index: 0, message, finish_reason: finish }] }));
  expect(passage.read(body, 0, body.length, null)).toBe(true);
  const whole = JSON.parse(Buffer.concat(passage.body(answerEnd())).toString()) as { output: object[] };
  return textsOf(whole.output);
}
