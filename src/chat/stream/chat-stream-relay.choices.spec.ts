// The choices of a relayed stream: finish reasons and tool calls.
import { describe, expect, it } from '@jest/globals';
import { finishReasonsOf, joinedText, relayBody, relayNamed } from '../../../test/support/chat/relay.js';
import type { StreamedChunk } from '../../../test/support/chat/relay.js';
import { chatWireOf } from '../../../test/support/chat-providers/send-chat.js';
import { openAiChunk, openAiFinish, OPENAI_USAGE, sse } from '../../../test/support/chat/upstream-streams.js';

describe('finish reasons', () => {
  it.each([
    ['eos', 'stop'],
    ['STOP', 'stop'],
    ['max_tokens', 'length'],
    ['SAFETY', 'content_filter'],
    ['function_call', 'tool_calls'],
    ['content_filter: PROHIBITED_CONTENT', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['SPII', 'content_filter'],
    ['function_call_filter: MALFORMED_FUNCTION_CALL', 'error'],
    ['UNEXPECTED_TOOL_CALL', 'error'],
    ['constructor', 'constructor'],
    ['something new', 'something new'],
  ])('maps %s to %s and keeps the provider’s word beside it', (word, reason) => {
    const { chunks, choices, failure } = relayBody(
      sse(openAiChunk({ content: 'a' }), openAiFinish(word), '[DONE]'),
    );
    expect(failure).toBeNull();
    expect(chunks.at(-1)?.choices[0]).toMatchObject({ finish_reason: reason, native_finish_reason: word });
    expect(choices[0]).toMatchObject({ finishReason: reason, nativeFinishReason: word });
  });

  it('a repeated role is removed: some clients join it', () => {
    const { chunks, output } = relayBody(
      sse(
        openAiChunk({ role: 'assistant', content: 'a' }),
        openAiChunk({ role: 'assistant', content: 'b' }),
        openAiChunk({ content: 'c', role: 'assistant' }),
        openAiFinish('stop'),
        '[DONE]',
      ),
    );
    expect(joinedText(chunks, 'role')).toBe('assistant');
    expect(output).toContain('"delta":{"content":"b"}');
    expect(joinedText(chunks)).toBe('abc');
  });

  it('the first role of a choice stays where its index follows the delta', () => {
    const choice = (index: number) => ({ delta: { role: 'assistant', content: 'a' }, index });
    const chunk = { choices: [choice(0), choice(1)] };
    const { chunks } = relayBody(sse(chunk, chunk), { choiceCount: 2 });
    expect([0, 1].map((index) => joinedText(chunks, 'role', index))).toEqual(['assistant', 'assistant']);
  });

  it('a repeated finish reason is sent once', () => {
    const { chunks } = relayBody(
      sse(
        openAiChunk({ content: 'a' }),
        openAiFinish('stop'),
        openAiFinish('stop', { usage: OPENAI_USAGE }),
        '[DONE]',
      ),
    );
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, 'stop']);
  });

  it('an empty finish reason is null, and stop at the end', () => {
    const { chunks } = relayNamed('a compatible server: empty finish reasons throughout');
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, null, 'stop']);
    expect(chunks[2]?.choices[0]).toMatchObject({ delta: {}, native_finish_reason: '' });
  });

  it('a missing key is added, and the text of the finishing chunk is sent before the reason', () => {
    const { chunks } = relayNamed('vLLM: no finish reason, cumulative usage, the last token with the finish');
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, null, null, 'stop']);
    expect(joinedText(chunks)).toBe('last');
  });

  it('usage beside an empty delta is kept aside, and its chunk is dropped', () => {
    const begin = sse(openAiChunk({ role: 'assistant', content: 'a' }), openAiFinish('stop'));
    const empty = openAiChunk({ role: 'assistant', content: '' }, { usage: OPENAI_USAGE });
    const { chunks, usage } = relayBody(begin + sse(empty, '[DONE]'));
    expect(chunks).toHaveLength(2);
    expect(usage).toMatchObject({ promptTokens: 9, completionTokens: 12 });
  });

  it.each([
    ['begins a choice', '', openAiChunk({ role: 'assistant', content: '' }, { usage: OPENAI_USAGE })],
    [
      'has a member of another service',
      sse(openAiChunk({ content: 'a' })),
      openAiChunk({ content: '', images: [] }, { usage: OPENAI_USAGE }),
    ],
    [
      'has log probabilities',
      sse(openAiChunk({ content: 'a' })),
      openAiChunk(
        {},
        {
          choices: [{ index: 0, delta: {}, logprobs: { content: [] }, finish_reason: null }],
          usage: OPENAI_USAGE,
        },
      ),
    ],
  ])('a chunk with usage that %s is relayed', (_name, before, chunk) => {
    const { chunks } = relayBody(before + sse(chunk, openAiFinish('stop'), '[DONE]'));
    expect(chunks).toHaveLength(before === '' ? 2 : 3);
  });

  it('usage before the finishing chunk is kept aside', () => {
    const { chunks, usage } = relayNamed(
      'a compatible server: usage before the finish, a repeated finish reason, role of a model',
    );
    expect(finishReasonsOf(chunks)).toEqual(['stop']);
    expect(usage).toMatchObject({ promptTokens: 2, completionTokens: 4 });
  });
});

describe('tool calls', () => {
  const fragments = (chunks: readonly StreamedChunk[]): Record<string, never>[] =>
    chunks.flatMap(({ choices }) => choices).flatMap(({ delta }) => (delta['tool_calls'] ?? []) as never[]);

  it('parallel calls without index and id get both, and the finish reason tool_calls', () => {
    const { chunks } = relayNamed('Google: usage in every chunk, parallel calls without index or id, stop');
    expect(fragments(chunks)).toEqual([
      {
        index: 0,
        id: 'call_1',
        type: 'function',
        function: { name: 'weather', arguments: '{"city":"Paris"}' },
        extra_content: { google: { thought_signature: 'x' } },
      },
      { index: 1, id: 'call_2', type: 'function', function: { name: 'weather', arguments: '{}' } },
    ]);
    expect(chunks[2]?.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      native_finish_reason: 'stop',
    });
    expect(chunks[0]?.choices[0]?.delta).toEqual({
      role: 'assistant',
      content: '',
      extra_content: { google: { thought_signature: 'c2ln' } },
    });
  });

  it('their signatures are repeated as details of the reasoning', () => {
    const { callSignatures } = chatWireOf('google');
    if (!callSignatures) throw new Error('Google signs its calls');
    const stream = { wire: { callSignatures } };
    const signed = (index: number, id: string, data: string) => ({
      index,
      id,
      function: { name: 'f', arguments: '{}' },
      extra_content: { google: { thought_signature: data } },
    });
    const body = sse(
      openAiChunk({ tool_calls: [signed(0, 'a', 'one'), { ...signed(1, 'b', ''), extra_content: {} }] }),
      openAiChunk({ tool_calls: [signed(2, 'c', 'two')] }),
      openAiFinish('stop'),
      '[DONE]',
    );
    const detail = (id: string, data: string, index: number) => ({
      type: 'reasoning.encrypted',
      data,
      id,
      format: 'google-gemini-v1',
      index,
    });
    const detailsOf = ({ chunks }: ReturnType<typeof relayBody>) =>
      chunks.flatMap(({ choices }) => choices).map(({ delta }) => delta['reasoning_details']);
    expect(detailsOf(relayBody(body, stream))).toEqual([
      [detail('a', 'one', 0)],
      [detail('c', 'two', 1)],
      undefined,
    ]);
    const excluded = relayBody(body, { ...stream, excludesReasoning: true });
    expect(detailsOf(excluded)).toEqual([undefined, undefined, undefined]);
  });

  it('interleaved fragments keep their index', () => {
    const { chunks, choices } = relayNamed('OpenAI: two tool calls, interleaved');
    const byIndex = [0, 1].map((index) =>
      fragments(chunks)
        .filter((fragment) => fragment['index'] === index)
        .map((fragment) => (fragment['function'] as unknown as { arguments: string }).arguments)
        .join(''),
    );
    expect(byIndex).toEqual(['{"city":"Köln"}', '{}']);
    expect(choices[0]?.toolCalls).toEqual([
      { id: 'call_a', name: 'weather', arguments: '{"city":"Köln"}' },
      { id: 'call_b', name: 'time', arguments: '{}' },
    ]);
  });

  it('text after the last fragment and null content beside a call pass unchanged', () => {
    const { output, chunks } = relayNamed('OpenAI: two tool calls, interleaved');
    expect(output).toContain('"delta":{"content":" "}');
    expect(output).toContain(
      '"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_a"',
    );
    expect(finishReasonsOf(chunks)).toEqual(['tool_calls']);
  });

  it('of one index with ids of their own are calls of their own', () => {
    const { chunks, choices } = relayNamed(
      'a compatible server: all calls under index 0, arguments as an object',
    );
    expect(fragments(chunks)).toEqual([
      { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
      { index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } },
      { index: 1, function: { arguments: '{}' } },
    ]);
    expect(choices[0]?.toolCalls.map(({ arguments: text }) => text)).toEqual(['{"x":1}', '{}']);
  });

  describe('of one index without ids', () => {
    const call = (name: string | undefined, text: string): object => ({
      index: 0,
      id: '',
      function: { ...(name !== undefined && { name }), arguments: text },
    });
    const relayCalls = (...chunks: readonly (readonly object[])[]): ReturnType<typeof relayBody> =>
      relayBody(
        sse(
          ...chunks.map((calls) => openAiChunk({ tool_calls: calls })),
          openAiFinish('tool_calls'),
          '[DONE]',
        ),
      );

    it.each([
      ['another name', ['weather', 'time']],
      ['the same name', ['weather', 'weather']],
    ])('are calls of their own in one chunk, with %s', (_title, names) => {
      const { chunks, choices } = relayCalls(names.map((name, at) => call(name, `{"x":${at}}`)));
      expect(fragments(chunks)).toEqual(
        names.map((name, at) => ({
          index: at,
          id: `call_${at + 1}`,
          type: 'function',
          function: { name, arguments: `{"x":${at}}` },
        })),
      );
      expect(choices[0]?.toolCalls).toEqual([
        { id: 'call_1', name: names[0], arguments: '{"x":0}' },
        { id: 'call_2', name: names[1], arguments: '{"x":1}' },
      ]);
    });

    it('another name in a later chunk begins a call, and the same name continues it', () => {
      const { choices } = relayCalls(
        [call('weather', '{"city":')],
        [call('weather', '"Köln"')],
        [call(undefined, '}')],
        [call('time', '{')],
        [call('time', '}')],
      );
      expect(choices[0]?.toolCalls).toEqual([
        { id: 'call_1', name: 'weather', arguments: '{"city":"Köln"}' },
        { id: 'call_2', name: 'time', arguments: '{}' },
      ]);
    });

    it('continue their call in one chunk without a name, and take a name that follows', () => {
      const { choices } = relayCalls([call('', '{'), call('weather', '"a":'), call(undefined, '1}')]);
      expect(choices[0]?.toolCalls).toEqual([{ id: 'call_1', name: 'weather', arguments: '{"a":1}' }]);
    });
  });

  it('with the id of another call get one of their own', () => {
    const call = (index: number): object => ({ index, id: 'same', function: { name: 'f', arguments: '{}' } });
    const { choices } = relayBody(
      sse(openAiChunk({ tool_calls: [call(0), call(1)] }), openAiFinish('tool_calls')),
    );
    expect(choices[0]?.toolCalls.map(({ id }) => id)).toEqual(['same', 'call_1']);
  });

  it('their arguments are part of the counted text', () => {
    const { outputCount } = relayNamed('OpenAI: two tool calls, interleaved');
    expect(outputCount).toEqual({
      texts: ['weather', '{"city":"Köln"}', 'time', '{}', ' '],
      factor: 1,
      unreadBytes: 0,
    });
  });
});
