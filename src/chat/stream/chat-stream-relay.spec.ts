// The relay as clients see it: every stream, its bytes, reasoning and usage.
import { describe, expect, it } from '@jest/globals';
import {
  chunksOf,
  finishReasonsOf,
  IDENTITY,
  joinedText,
  relayBody,
  relayNamed,
} from '../../../test/support/chat/relay.js';
import {
  openAiChunk,
  openAiFinish,
  plainChunk,
  sse,
  UPSTREAM_STREAMS,
} from '../../../test/support/chat/upstream-streams.js';

describe('every relayed stream', () => {
  it.each(UPSTREAM_STREAMS)('has the members that clients check: $name', ({ body, ...rules }) => {
    const { chunks, output, failure } = relayBody(body, rules);
    for (const { id, object, created, model, provider, choices, ...others } of chunks) {
      expect({ id, object, model, provider }).toEqual({
        id: IDENTITY.id,
        object: 'chat.completion.chunk',
        model: IDENTITY.model,
        provider: IDENTITY.provider,
      });
      expect(created).toBe(chunks[0]?.['created']);
      expect(Number.isInteger(created)).toBe(true);
      expect(choices.length).toBeGreaterThan(0);
      expect(others).not.toHaveProperty('usage');
      expect(others['system_fingerprint']).not.toBeNull();
      for (const choice of choices) {
        expect(Number.isInteger(choice.index)).toBe(true);
        expect(typeof choice.delta).toBe('object');
        expect(choice.delta).not.toBeNull();
        expect(choice).toHaveProperty('finish_reason');
        expect(choice.finish_reason === null).toBe(!('native_finish_reason' in choice));
        expect(choice.delta['tool_calls']).not.toBeNull();
        expect(choice.delta['role'] ?? 'assistant').toBe('assistant');
      }
    }
    expect(output).not.toContain('secret');
    expect(output).not.toContain('\ufffd\ufffd\ufffd');
    const begun = new Set<number>();
    for (const { index, delta } of chunks.flatMap(({ choices }) => choices)) {
      if (begun.has(index)) continue;
      begun.add(index);
      expect(delta['role']).toBe('assistant');
      expect(typeof delta['content'] === 'string' || Array.isArray(delta['tool_calls'])).toBe(true);
    }
    if (!failure) expect(finishReasonsOf(chunks)).toHaveLength(begun.size);
  });
});

describe('bytes', () => {
  it('of members that need no change pass unchanged', () => {
    const { output } = relayNamed('OpenAI: logprobs with a large seed and numbers of any spelling');
    expect(output).toContain('"logprob":-0.00012300');
    expect(output).toContain('"extra":12345678901234567890,"e":1.5E+300');
  });

  it('of a usual chunk are copied, with the members of this service in front', () => {
    const first = sse(openAiChunk({ role: 'assistant', content: '' }));
    const { output } = relayBody(first + sse(openAiChunk({ content: 'né \\ud83d' })));
    expect(output.split('\n\n')[1]).toBe(
      'data: {"id":"gen-1790000000-Ab3","object":"chat.completion.chunk","created":1790000000,"model":"vendor/model",' +
        '"provider":"Stub","service_tier":"default","system_fingerprint":"fp_38343a2f8f","choices":[{"index":0,' +
        '"delta":{"content":"né \\\\ud83d"},"logprobs":null,"finish_reason":null}]}',
    );
  });

  it('of a character that two chunks share join to the character', () => {
    const half = (text: string): string =>
      `{"choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}`;
    const { choices, output } = relayBody(sse(half('né 🙂 \\ud83d'), half('\\ude42'), openAiFinish('stop')));
    expect(choices[0]?.content).toBe('né 🙂 🙂');
    expect(joinedText(chunksOf(output))).toBe('né 🙂 🙂');
  });

  it('become the replacement character where they are not UTF-8', () => {
    const { chunks, choices } = relayNamed('a compatible server: invalid UTF-8 in a text');
    expect(joinedText(chunks)).toBe('\ufffd(\ufffd');
    expect(choices[0]?.content).toBe('\ufffd(\ufffd');
  });
});

describe('reasoning', () => {
  it('is sent as reasoning, and as reasoning_content where the provider sends that', () => {
    const reasoning = (member: string): unknown =>
      relayBody(sse(openAiChunk({ [member]: 'Hm "\\' }), openAiFinish('stop'))).chunks[0]?.choices[0]?.delta;
    expect(reasoning('reasoning_content')).toEqual({
      role: 'assistant',
      content: '',
      reasoning_content: 'Hm "\\',
      reasoning: 'Hm "\\',
    });
    expect(reasoning('reasoning')).toEqual({ role: 'assistant', content: '', reasoning: 'Hm "\\' });
  });

  it('replaces a null beside reasoning_content', () => {
    const { chunks } = relayBody(
      sse(openAiChunk({ reasoning: null, reasoning_content: 'Hm' }), openAiFinish('stop')),
    );
    expect(chunks[0]?.choices[0]?.delta).toMatchObject({ reasoning: 'Hm', reasoning_content: 'Hm' });
  });

  it('is counted and not sent when the caller excludes it', () => {
    const { output, choices, outputCount } = relayNamed('reasoning that the caller excludes');
    expect(output).not.toContain('reasoning');
    expect(choices[0]).toMatchObject({ content: 'Hi', reasoning: 'secret' });
    expect(outputCount).toMatchObject({ texts: ['secret', 'Hi'] });
  });

  it('in parts of content becomes reasoning beside a text', () => {
    const { chunks, choices } = relayNamed('Mistral: parts of content, usage in the last chunk');
    expect([joinedText(chunks), joinedText(chunks, 'reasoning')]).toEqual(['Yes!', 'Hm, é']);
    expect(choices[0]).toMatchObject({ content: 'Yes!', reasoning: 'Hm, é', finishReason: 'length' });
  });
});

describe('usage', () => {
  it('cumulative reports are one report, the last', () => {
    const chunk = (completion: number): object =>
      plainChunk(
        { index: 0, delta: { content: 'a' } },
        { usage: { prompt_tokens: 10, completion_tokens: completion } },
      );
    const body = sse(
      ...Array.from({ length: 40 }, (_, index) => chunk(index + 1)),
      openAiFinish('stop'),
      '[DONE]',
    );
    const { usage, output } = relayBody(body);
    expect(usage).toMatchObject({ promptTokens: 10, completionTokens: 40 });
    expect(output).not.toContain('usage');
  });

  it('an explicit 0 stays, an absent member keeps what came before', () => {
    const { usage } = relayBody(
      sse(
        plainChunk(
          { index: 0, delta: { content: 'a' }, finish_reason: 'stop' },
          { usage: { prompt_tokens: 5, completion_tokens: 7 } },
        ),
        plainChunk(
          {},
          { choices: [], usage: { completion_tokens: 0, prompt_tokens_details: { cached_tokens: 3 } } },
        ),
        '[DONE]',
      ),
    );
    expect(usage).toMatchObject({
      promptTokens: 5,
      completionTokens: 0,
      cachedTokens: 3,
      reasoningTokens: null,
    });
  });

  it('a stream without usage ends well, with the texts to count', () => {
    const { usage, failure, outputCount } = relayBody(
      sse(openAiChunk({ content: 'Hello' }), openAiFinish('stop'), '[DONE]'),
    );
    expect({ usage, failure, outputCount }).toEqual({
      usage: null,
      failure: null,
      outputCount: { texts: ['Hello'], factor: 1, unreadBytes: 0 },
    });
  });
});
