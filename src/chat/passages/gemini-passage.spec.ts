// Answers of Gemini's wire for clients of each wire, and on their way back: every signature returns on the part that brought it.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { piecesOf } from '../../../test/support/chat/pieces.js';
import { ANSWER_OPTIONS, answerEnd, relayBody, relayed } from '../../../test/support/chat/relay.js';
import { builtGemini, geminiWire } from '../../../test/support/gemini/built-gemini.js';
import {
  essenceOf,
  essenceOfTurn,
  geminiStream,
  scenarios,
  sentBackInChat,
  sentBackInMessages,
  sentBackInResponses,
} from '../../../test/support/gemini/gemini-answers.js';
import { PLACEHOLDER } from '../../../test/support/gemini/gemini-checks.js';
import {
  geminiCall,
  geminiChunk,
  geminiSse,
  RICH_CHUNKS,
  SIGNATURE,
  USAGE,
  WHOLE_ANSWER,
} from '../../../test/support/gemini/gemini-stub.js';
import { readMessageStream } from '../../../test/support/messages/read-messages-stream.js';
import { NEVER_YIELD } from '../../concurrency/yield-queue.js';
import type { ModelWire } from '../../domain/chat/model-wire.js';
import { normaliseChatUsage } from '../../domain/chat/chat-usage.js';
import { readChatAnswer } from '../stream/chat-answer.js';

const WIRE = geminiWire();
const stream = (chunks: readonly object[], client: ModelWire = 'chat') =>
  relayBody(geminiSse(chunks), { protocol: 'gemini', client, wire: WIRE });
const ended = (finishReason: string, parts: readonly object[] = [{ text: 'ok' }]) =>
  geminiChunk(parts, { finishReason });

describe.each([
  ['Chat', sentBackInChat],
  ['Messages', sentBackInMessages],
  ['Responses', sentBackInResponses],
] as const)('an answer that a client of %s sends back', (name, sentBack) => {
  it('has its texts, its calls and their signatures in their places', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, fc.array(fc.nat(), { maxLength: 5 }), async (scenario, seeds) => {
        const of = geminiStream(scenario);
        const cuts = seeds.map((seed) => seed % of.body.length).toSorted((one, other) => one - other);
        const request = sentBack(of, piecesOf(of.body, cuts));
        // A thought behind the text would hide it from coding agents that take the last block.
        const kept = name === 'Messages' ? { ...scenario, textSignature: null } : scenario;
        const isEmpty = scenario.parts.every(({ type }) => type === 'thought');
        const built = await builtGemini({}, { upstreamModel: 'gemini-3-stub' }, request);
        const [first, second] = built.body['contents'] as { parts: object[] }[];
        const turn = isEmpty ? { parts: [] } : second;
        expect(first?.parts[0]).toEqual({ text: 'hi' });
        expect(essenceOfTurn(turn?.parts ?? [])).toEqual(essenceOf(kept, PLACEHOLDER));
      }),
    );
  });
});

describe('a stream', () => {
  it('has thoughts, texts and whole calls for a client of Chat, the signature with the id of its call', () => {
    const { chunks, failure, signatures, upstreamId } = stream(RICH_CHUNKS);
    expect([failure, signatures, upstreamId]).toEqual([null, [SIGNATURE], 'resp-of-the-stub']);
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    const details = deltas.flatMap((delta) => (delta['reasoning_details'] ?? []) as object[]);
    expect(details).toEqual([
      { type: 'reasoning.text', format: 'google-gemini-v1', index: 0, text: 'Let me ' },
      { type: 'reasoning.text', format: 'google-gemini-v1', index: 0, text: 'see.' },
      { type: 'reasoning.encrypted', format: 'google-gemini-v1', index: 1, id: 'fc-1', data: SIGNATURE },
    ]);
    const calls = deltas.flatMap((delta) => (delta['tool_calls'] ?? []) as object[]);
    expect(calls).toMatchObject([
      { index: 0, id: 'fc-1', function: { name: 'look_up' } },
      { index: 0, function: { arguments: '{"id":1}' } },
      { index: 1, id: 'fc-2', function: { name: 'look_up' } },
      { index: 1, function: { arguments: '{"id":2}' } },
    ]);
    expect(chunks.at(-1)?.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      native_finish_reason: 'STOP',
    });
  });

  it('has a thinking block with the sealed signature before the call for a client of Messages', () => {
    const call = geminiCall('look_up', { id: 1 }, { thoughtSignature: SIGNATURE });
    const { output, last } = relayed({ protocol: 'gemini', client: 'messages' }, [
      Buffer.from(geminiSse([geminiChunk([{ text: 'Hm.' }]), ended('STOP', [call])])),
    ]);
    expect(readMessageStream(output + last).blocks).toEqual([
      { type: 'text', text: 'Hm.', signature: null },
      {
        type: 'thinking',
        text: '',
        signature: expect.stringMatching(/^sbx1\.gemini\.vendor-model\.encrypted\./),
      },
      {
        type: 'tool_use',
        id: expect.stringMatching(/^call_[A-Za-z0-9]{24}$/),
        name: 'look_up',
        text: '{"id":1}',
        signature: null,
      },
    ]);
  });

  it('keeps the digits of arguments, and no spaces between them', () => {
    const body = geminiSse([ended('STOP', [geminiCall('f', {})])]).replace(
      '"args":{}',
      '"args": {\\n "n" : 12345678901234567890, "s": " a \\" b " }'.replaceAll('\\n', ' '),
    );
    const { choices } = relayBody(body, { protocol: 'gemini' });
    expect(choices[0]?.toolCalls[0]?.arguments).toBe('{"n":12345678901234567890,"s":" a \\" b "}');
  });

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['LANGUAGE', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['MALFORMED_FUNCTION_CALL', 'error'],
    ['UNEXPECTED_TOOL_CALL', 'error'],
    ['TOO_MANY_TOOL_CALLS', 'error'],
    ['CONTINUATION', 'stop'],
    ['OTHER', 'stop'],
    ['A_NEW_WORD', 'A_NEW_WORD'],
  ])('ends by %s with the reason %s', (native, reason) => {
    const { failure, choices } = stream([ended(native)]);
    expect([failure, choices[0]]).toMatchObject([null, { finishReason: reason, nativeFinishReason: native }]);
  });

  it.each(['SAFETY', 'OTHER', 'JAILBREAK', 'PROHIBITED_CONTENT'])(
    'of a prompt that is blocked by %s is filtered, with the usage of the prompt',
    (blockReason) => {
      const usageMetadata = { promptTokenCount: 9, totalTokenCount: 9 };
      const { failure, choices, usage } = stream([{ promptFeedback: { blockReason }, usageMetadata }]);
      expect([failure, choices[0]]).toMatchObject([
        null,
        { content: null, finishReason: 'content_filter', nativeFinishReason: blockReason },
      ]);
      expect(usage && normaliseChatUsage(usage)?.usage).toMatchObject({
        promptTokens: 9,
        completionTokens: 0,
      });
    },
  );

  it.each([
    ['ends without a finish', geminiSse([geminiChunk([{ text: 'Hel' }])])],
    ['is marked as done without a finish', `${geminiSse([geminiChunk([{ text: 'Hel' }])])}data: [DONE]\n\n`],
    ['has a second candidate', geminiSse([{ candidates: [{ index: 1, finishReason: 'STOP' }] }])],
    ['has a call without a name', geminiSse([ended('STOP', [{ functionCall: { args: {} } }])])],
    ['has a candidate that is no object', 'data: {"candidates":[1]}\n\n'],
    ['has parts that are no objects', 'data: {"candidates":[{"content":{"parts":["a"]}}]}\n\n'],
    ['is no object', 'data: [{}]\n\n'],
  ])('fails where it %s', (_case, body) => {
    expect(relayBody(body, { protocol: 'gemini' }).failure).toMatchObject({ kind: 'broken_answer' });
  });

  it.each([
    ['an object', { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }],
    ['a list', [{ error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }]],
  ])('fails by an error that is %s', (_form, error) => {
    expect(stream([error]).failure).toMatchObject({
      kind: 'provider_error',
      error: { message: 'Overloaded', status: 503, type: 'UNAVAILABLE' },
    });
  });

  it('counts thoughts as output once, although every chunk repeats its usage', () => {
    const chunks = Array.from({ length: 5 }, () => geminiChunk([{ text: 'a' }]));
    const { usage } = stream([...chunks, ended('STOP')]);
    expect(usage && normaliseChatUsage(usage)).toMatchObject({
      isConsistent: true,
      usage: { promptTokens: 100, completionTokens: 320, reasoningTokens: 300 },
    });
  });

  it('counts results of tools and media into the prompt', () => {
    const usageMetadata = {
      ...USAGE,
      toolUsePromptTokenCount: 7,
      cachedContentTokenCount: 40,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 60 },
        { modality: 'AUDIO', tokenCount: 30 },
        { modality: 'VIDEO', tokenCount: 10 },
      ],
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 5 }],
      totalTokenCount: 427,
    };
    const { usage } = stream([geminiChunk([{ text: 'a' }], { finishReason: 'STOP' }, usageMetadata)]);
    expect(usage && normaliseChatUsage(usage)).toMatchObject({
      isConsistent: true,
      usage: {
        promptTokens: 107,
        cachedTokens: 40,
        audioInputTokens: 30,
        videoInputTokens: 10,
        completionTokens: 320,
        imageOutputTokens: 5,
      },
    });
  });

  it('has no signatures and no thoughts where the client excludes them', () => {
    const { output, last } = relayed({ protocol: 'gemini', client: 'chat', excludesReasoning: true }, [
      Buffer.from(geminiSse(RICH_CHUNKS)),
    ]);
    expect(output + last).not.toContain('reasoning"');
    expect(output).not.toContain('reasoning_details');
  });
});

describe('a whole answer', () => {
  const read = async (answer: unknown, client: ModelWire) => {
    const options = { ...ANSWER_OPTIONS, client, wire: { ...ANSWER_OPTIONS.wire, ...WIRE } };
    const result = await readChatAnswer(Buffer.from(JSON.stringify(answer, null, 2)), options, NEVER_YIELD);
    if (!('answer' in result)) return result.failure;
    return JSON.parse(Buffer.concat(result.answer.body(answerEnd())).toString()) as unknown;
  };

  it('has a message with all parts for a client of Chat', async () => {
    expect(await read(WHOLE_ANSWER, 'chat')).toMatchObject({
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            content: 'Hello',
            reasoning: 'Let me see.',
            reasoning_details: [
              { type: 'reasoning.text', format: 'google-gemini-v1', index: 0, text: 'Let me see.' },
              { type: 'reasoning.encrypted', id: 'fc-1', index: 1, data: SIGNATURE },
            ],
            tool_calls: [
              { id: 'fc-1', function: { name: 'look_up', arguments: '{"id":1}' } },
              { id: 'fc-2', function: { name: 'look_up', arguments: '{"id":2}' } },
            ],
          },
        },
      ],
    });
  });

  it('has blocks for a client of Messages', async () => {
    expect(await read(WHOLE_ANSWER, 'messages')).toMatchObject({
      stop_reason: 'tool_use',
      content: [
        { type: 'thinking', thinking: 'Let me see.', signature: 'sbx1.none' },
        { type: 'text', text: 'Hello' },
        { type: 'thinking', thinking: '', signature: expect.stringMatching(/^sbx1\.gemini\./) },
        { type: 'tool_use', id: 'fc-1', input: { id: 1 } },
        { type: 'tool_use', id: 'fc-2', input: { id: 2 } },
      ],
    });
  });

  it.each([
    [{}, { kind: 'broken_answer' }],
    [{ error: { code: 500, message: 'x', status: 'INTERNAL' } }, { kind: 'provider_error' }],
  ])('without candidates fails: %j', async (answer, failure) => {
    expect(await read(answer, 'chat')).toMatchObject(failure);
  });
});
