import { describe, expect, it } from '@jest/globals';
import { ANSWER_OPTIONS as OPTIONS, answerEnd, IDENTITY } from '../../../test/support/chat/relay.js';
import { OPENAI_USAGE, openAiChunk, RELAY_WIRE, sse } from '../../../test/support/chat/upstream-streams.js';
import { chatWireOf } from '../../../test/support/chat-providers/send-chat.js';
import { readChatAnswer } from './chat-answer.js';
import type { PassageOptions } from '../passages/passage.js';
import type { ChatAnswer } from './chat-answer.js';
import { countOutputTokens } from './output-count.js';
import { NEVER_YIELD } from '../../concurrency/yield-queue.js';

const answerWith = (message: object, others: object = {}): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'gpt',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...others }],
  usage: OPENAI_USAGE,
});

async function read(body: object | string, options: Partial<PassageOptions> = {}): Promise<ChatAnswer> {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const result = await readChatAnswer(bytes, { ...OPTIONS, ...options }, NEVER_YIELD);
  if ('failure' in result) throw new Error(JSON.stringify(result.failure));
  return result.answer;
}

const bodyOf = (answer: ChatAnswer, members = {}): Record<string, unknown> =>
  JSON.parse(Buffer.concat(answer.body(answerEnd(members))).toString()) as Record<string, unknown>;

describe('a whole answer', () => {
  it('keeps its members, and gets those of this service', async () => {
    const answer = await read({
      ...answerWith({ content: 'Hi', refusal: null }),
      service_tier: 'flex',
      extra: 1,
    });
    expect(bodyOf(answer, { usage: { cost: 1 } })).toEqual({
      id: IDENTITY.id,
      object: 'chat.completion',
      created: 1_790_000_000,
      model: IDENTITY.model,
      provider: IDENTITY.provider,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi', refusal: null },
          finish_reason: 'stop',
          native_finish_reason: 'stop',
        },
      ],
      service_tier: 'flex',
      extra: 1,
      system_fingerprint: null,
      usage: { cost: 1 },
    });
    expect(answer).toMatchObject({
      usage: { promptTokens: 9, completionTokens: 12 },
      serviceTier: 'flex',
      upstreamId: 'chatcmpl-1',
    });
    // The provider's own numbers go through the record.
    expect(bodyOf(answer)).toMatchObject({ usage: { prompt_tokens: 0, completion_tokens: 0 } });
  });

  it('keeps a fingerprint, and adds a null content', async () => {
    const tool_calls = [{ function: { name: 'f', arguments: { a: 1 } } }];
    const body = bodyOf(
      await read({ ...answerWith({ tool_calls, reasoning_content: 'Hm' }), system_fingerprint: 'fp' }),
    );
    expect(body).toMatchObject({
      system_fingerprint: 'fp',
      choices: [
        {
          message: {
            content: null,
            reasoning: 'Hm',
            reasoning_content: 'Hm',
            tool_calls: [
              {
                id: expect.stringMatching(/^call_[A-Za-z0-9]{24}$/),
                type: 'function',
                function: { name: 'f', arguments: '{"a":1}' },
              },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    });
  });

  it('removes null tool calls, and reasoning that the caller excludes', async () => {
    const answer = await read(
      answerWith({ content: 'a', tool_calls: null, reasoning: 'secret', reasoning_details: [{}] }),
      {
        excludesReasoning: true,
      },
    );
    expect(bodyOf(answer)['choices']).toMatchObject([{ message: { role: 'assistant', content: 'a' } }]);
    expect(JSON.stringify(bodyOf(answer)['choices'])).not.toMatch(/secret|tool_calls|reasoning/);
    expect(answer.choices[0]?.reasoning).toBe('secret');
  });

  it('keeps an error of a choice, as the provider reports it', async () => {
    const body = bodyOf(
      await read(
        answerWith({ content: 'half' }, { finish_reason: 'error', error: { code: 502, message: 'x' } }),
      ),
    );
    expect(body['choices']).toMatchObject([{ finish_reason: 'error', error: { code: 502, message: 'x' } }]);
  });

  it.each([
    ['no message', {}],
    ['null', { message: null }],
  ])('of a blocked prompt with %s gets an empty message', async (_name, others) => {
    const answer = await read({
      choices: [{ index: 0, ...others, finish_reason: 'content_filter: PROHIBITED_CONTENT' }],
    });
    expect(bodyOf(answer)['choices']).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: null },
        finish_reason: 'content_filter',
        native_finish_reason: 'content_filter: PROHIBITED_CONTENT',
      },
    ]);
    expect(answer.choices).toMatchObject([{ content: null, finishReason: 'content_filter' }]);
  });

  it('of a malformed tool call ends with an error, as its stream does', async () => {
    const finish_reason = 'function_call_filter: MALFORMED_FUNCTION_CALL';
    const answer = await read(answerWith({ content: null }, { finish_reason }));
    expect(bodyOf(answer)['choices']).toMatchObject([
      { finish_reason: 'error', native_finish_reason: finish_reason },
    ]);
  });

  it('repeats the signature of a tool call as a detail of the reasoning', async () => {
    const { callSignatures } = chatWireOf('google');
    if (!callSignatures) throw new Error('Google signs its calls');
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const signed = { ...call, extra_content: { google: { thought_signature: 'c2ln' } } };
    const answer = await read(answerWith({ content: null, tool_calls: [signed, { ...call, id: 'b' }] }), {
      wire: { ...RELAY_WIRE, callSignatures },
    });
    const detail = {
      type: 'reasoning.encrypted',
      data: 'c2ln',
      id: 'a',
      format: 'google-gemini-v1',
      index: 0,
    };
    expect(bodyOf(answer)['choices']).toMatchObject([
      { message: { tool_calls: [signed, { id: 'b' }], reasoning_details: [detail] } },
    ]);
  });

  it('counts the tokens of all its texts', async () => {
    const answer = await read(answerWith({ content: 'Hello there', refusal: 'No' }));
    expect(await countOutputTokens(answer.outputCount, null, NEVER_YIELD)).toBe(3);
  });

  it.each([
    [
      'a stream',
      sse(openAiChunk({ content: 'a' })),
      { kind: 'broken_answer', message: 'the answer is a stream' },
    ],
    ['nothing', '', { kind: 'broken_answer' }],
    ['a page', '<html>', { kind: 'broken_answer' }],
    [
      'a truncated text',
      JSON.stringify(answerWith({ content: 'a' })).slice(0, -5),
      { kind: 'broken_answer' },
    ],
    ['no choices', '{"choices":[]}', { kind: 'broken_answer', message: 'the answer has no choices' }],
    [
      'no message',
      '{"choices":[{"index":0}]}',
      { kind: 'broken_answer', message: 'a choice has no message' },
    ],
    ['an error', '{"error":{"code":400,"message":"no"}}', { kind: 'provider_error', error: { status: 400 } }],
    [
      'Mistral’s error',
      '{"object":"error","message":{"detail":[{"loc":["body","seed"],"msg":"extra"}]}}',
      { kind: 'provider_error', error: { message: 'body.seed: extra' } },
    ],
    [
      'Google’s error',
      '[{"error":{"code":429,"message":"slow"}}]',
      { kind: 'provider_error', error: { status: 429 } },
    ],
  ])('%s is a failure', async (_name, body, failure) => {
    expect(await readChatAnswer(Buffer.from(body), OPTIONS, NEVER_YIELD)).toMatchObject({ failure });
  });
});
