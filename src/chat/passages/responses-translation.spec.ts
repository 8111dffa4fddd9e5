// Answers of the Responses wire in the kernel, as clients of every wire get them: whatever the order of the events, and whatever a
// server leaves out, the texts are those of the items.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import {
  answerEnd,
  ANSWER_OPTIONS,
  chunksOf,
  joinedText,
  relayed,
} from '../../../test/support/chat/relay.js';
import { readMessageStream } from '../../../test/support/messages/read-messages-stream.js';
import { randomAnswers } from '../../../test/support/responses/random-output.js';
import { itemOf, RESPONSE_USAGE, responseObject } from '../../../test/support/responses/responses-events.js';
import type { OutputSpec } from '../../../test/support/responses/responses-events.js';
import { responsesStream } from '../../../test/support/responses/responses-streams.js';
import {
  accumulated,
  parsedEvents,
  relayedResponse,
} from '../../../test/support/responses/relayed-response.js';
import type { ModelWire } from '../../domain/chat/model-wire.js';
import { wholePassage } from './passages.js';

const wire = { protocol: 'responses' } as const;
const choiceOf = (name: string) => relayed(responsesStream(name), [responsesStream(name).body]).choices[0];
const messageOf = (name: string) => {
  const stream = { ...responsesStream(name), client: 'messages' } as const;
  const { output, last } = relayed(stream, [stream.body]);
  return readMessageStream(output + last);
};

/** By their ids. */
const sorted = (calls: readonly (readonly string[])[]) =>
  calls.toSorted(([one = ''], [other = '']) => one.localeCompare(other));

/** The texts of the kinds, joined, and the calls. */
function essenceOf(specs: readonly OutputSpec[]) {
  const texts = { text: '', refusal: '', reasoning: '' };
  const calls: string[][] = [];
  for (const spec of specs)
    if ('callId' in spec) {
      const text = spec.deltas.join('');
      const isCustom = spec.type === 'custom_tool_call';
      calls.push([spec.callId, spec.name, isCustom ? JSON.stringify({ input: text }) : text]);
    } else if (spec.type === 'reasoning')
      texts.reasoning += spec.summary.map((part) => part.join('')).join('\n\n');
    else if (spec.type === 'message') texts[spec.isRefusal ? 'refusal' : 'text'] += spec.deltas.join('');
  return { ...texts, calls: sorted(calls) };
}

function recorded(client: ModelWire, body: Buffer) {
  const { choices, failure } = relayed({ ...wire, client }, [body]);
  expect(failure).toBeNull();
  const [choice] = choices;
  return {
    text: choice?.content ?? '',
    refusal: choice?.refusal ?? '',
    reasoning: choice?.reasoning ?? '',
    calls: sorted((choice?.toolCalls ?? []).map(({ id, name, arguments: text }) => [id, name, text])),
  };
}

/** Thoughts that come in turns with others join in another order. */
const hasOneThought = (specs: readonly OutputSpec[]) =>
  specs.filter(({ type }) => type === 'reasoning').length <= 1;

describe('any order of the events of an answer', () => {
  it('keeps the texts and calls of its items in the record', () => {
    fc.assert(
      fc.property(randomAnswers, ({ specs, body }) => {
        const read = recorded('responses', body);
        const made = essenceOf(specs);
        expect(read.calls).toEqual(made.calls);
        if (hasOneThought(specs)) expect(read.reasoning).toBe(made.reasoning);
        for (const kind of ['text', 'refusal'] as const)
          expect([...read[kind]].toSorted()).toEqual([...made[kind]].toSorted());
      }),
      { numRuns: 500 },
    );
  });

  it('reaches a client of Messages block by block', () => {
    fc.assert(
      fc.property(randomAnswers, ({ specs, body }) => {
        const { output, last, failure } = relayed({ ...wire, client: 'messages' }, [body]);
        expect(failure).toBeNull();
        const { blocks } = readMessageStream(output + last);
        const calls = blocks.flatMap(({ type, id = '', name = '', text }) =>
          type === 'tool_use' ? [[id, name, text]] : [],
        );
        expect(sorted(calls)).toEqual(essenceOf(specs).calls);
        // Of one item each, whatever stands between its events.
        const texts = blocks.filter(({ type }) => type === 'text').map(({ text }) => text);
        expect(texts.toSorted()).toEqual(
          specs.flatMap((spec) => (spec.type === 'message' ? [spec.deltas.join('')] : [])).toSorted(),
        );
        const sealed = blocks.flatMap(({ type, signature }) =>
          type === 'thinking' ? [signature ?? ''] : [],
        );
        const encrypted = specs.flatMap((spec) => (spec.type === 'reasoning' ? [spec.encrypted] : []));
        expect(sealed.map(opened).toSorted()).toEqual(encrypted.map((text) => text ?? 'none').toSorted());
      }),
      { numRuns: 500 },
    );
  });

  it('reaches a client of Chat with the encrypted form of each thought', () => {
    fc.assert(
      fc.property(randomAnswers, ({ specs, body }) => {
        const { output, failure } = relayed({ ...wire, client: 'chat' }, [body]);
        expect(failure).toBeNull();
        const chunks = chunksOf(output);
        const details = chunks.flatMap(({ choices }) =>
          choices.flatMap(({ delta }) => (delta['reasoning_details'] ?? []) as Record<string, string>[]),
        );
        const encrypted = specs.flatMap((spec) => (spec.type === 'reasoning' ? (spec.encrypted ?? []) : []));
        expect(details.flatMap(({ data = [] }) => data).toSorted()).toEqual(encrypted.toSorted());
        const summary = details.map((detail) => detail['summary'] ?? '').join('');
        expect(summary).toBe(joinedText(chunks, 'reasoning'));
      }),
      { numRuns: 500 },
    );
  });

  it('joins in the SDK to the output of the last event, translated to functions and back', () => {
    fc.assert(
      fc.property(randomAnswers, ({ specs, body }) => {
        if (specs.some(({ type }) => type === 'custom_tool_call')) return;
        const { joined, last } = accumulated(
          parsedEvents(relayedResponse(wire, [body], { isTranslated: true })),
        );
        expect(joined.output).toEqual(last.output);
      }),
      { numRuns: 500 },
    );
  });
});

const opened = (signature: string): string => {
  const [, data = ''] = /\.encrypted\.([\w-]*)$/.exec(signature) ?? [];
  return data === '' ? signature.replace('sbx1.', '') : Buffer.from(data, 'base64url').toString();
};

describe('a stream', () => {
  it('has a call and a thought that came in one place in two blocks', () => {
    const { blocks } = messageOf('a call and a thought in the same place');
    expect(blocks.map(({ type, text }) => [type, text])).toEqual([
      ['tool_use', '{"a":1}'],
      ['thinking', 'Hm.'],
      ['text', 'Hello'],
    ]);
  });

  it.each(['items without their beginning', 'items in the last event alone'])(
    'has whole items: %s',
    (name) => {
      expect(choiceOf(name)).toMatchObject({
        content: 'Hello',
        reasoning: 'Hm.',
        toolCalls: [{ id: 'call_1', name: 'look', arguments: '{"a":1}' }],
        finishReason: 'tool_calls',
      });
    },
  );

  it('waits for arguments that come behind their empty end', () => {
    const { blocks } = messageOf('arguments that come behind their empty end');
    expect(blocks.map(({ text }) => text)).toEqual(['{"a":1}']);
  });

  it.each([
    ['an end by the limit of tokens', 'length', 'max_output_tokens', 'max_tokens'],
    ['an end by a filter', 'content_filter', 'content_filter', 'refusal'],
  ])('says why it is incomplete: %s', (name, reason, native, stop) => {
    expect(choiceOf(name)).toMatchObject({ finishReason: reason, nativeFinishReason: native });
    expect(messageOf(name).delta).toMatchObject({ stop_reason: stop });
  });

  it.each([
    ['a failure after the first content', 'server_error'],
    ['an error after the first content', 'rate_limit_exceeded'],
  ])('states its error: %s', (name, code) => {
    const { failure } = relayed(responsesStream(name), [responsesStream(name).body]);
    expect(failure).toMatchObject({ kind: 'provider_error', error: { code } });
  });

  it('reads the written part of the prompt in its usage, and the tier', () => {
    const stream = responsesStream('a thought, a text and two calls');
    expect(relayed(stream, [stream.body]).usage).toMatchObject({
      promptTokens: RESPONSE_USAGE.input_tokens,
      cachedTokens: 80_000,
      cacheWriteTokens: 5_000,
      completionTokens: 1_000,
      reasoningTokens: 400,
    });
  });
});

describe('a whole answer', () => {
  const read = (response: object, client: ModelWire) => {
    const bytes = Buffer.from(JSON.stringify(response));
    const options = { ...ANSWER_OPTIONS, client, wire: { ...ANSWER_OPTIONS.wire, ...wire } };
    const passage = wholePassage(options);
    passage.read(bytes, 0, bytes.length, null);
    const { stated } = passage.answer;
    return {
      stated,
      body: stated ? null : (JSON.parse(Buffer.concat(passage.body(answerEnd())).toString()) as object),
    };
  };

  it('has the same texts as its stream', () => {
    fc.assert(
      fc.property(randomAnswers, ({ specs }) => {
        const output = specs.map((spec, index) => itemOf(spec, index));
        const { body } = read(responseObject('completed', output), 'chat') as {
          body: { choices: [{ message: Record<string, unknown> }] };
        };
        const { message } = body.choices[0];
        const calls = (message['tool_calls'] ?? []) as {
          id: string;
          function: { name: string; arguments: string };
        }[];
        const { reasoning, ...essence } = essenceOf(specs);
        expect({
          text: message['content'] ?? '',
          refusal: message['refusal'] ?? '',
          calls: sorted(calls.map(({ id, function: { name, arguments: text } }) => [id, name, text])),
        }).toEqual(essence);
        if (hasOneThought(specs)) expect(message['reasoning'] ?? '').toBe(reasoning);
      }),
    );
  });

  it('passes to a client of its wire, with its cost and its provider', () => {
    const response = responseObject('completed', [itemOf({ type: 'message', deltas: ['ok'] }, 0)], {
      usage: RESPONSE_USAGE,
    });
    expect(read(response, 'responses').body).toEqual({
      ...response,
      usage: { ...RESPONSE_USAGE, cost: 0, is_byok: false },
      provider: 'Stub',
    });
  });

  it('states the error of a failed response', () => {
    const response = responseObject('failed', [], { error: { code: 'server_error', message: 'No.' } });
    expect(read(response, 'responses').stated).toMatchObject({ code: 'server_error', message: 'No.' });
  });
});
