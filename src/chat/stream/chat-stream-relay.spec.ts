// The relay as clients see it. X rows name public reports whose case the test repeats.
import { describe, expect, it } from '@jest/globals';
import { chunksOf, createRelay, IDENTITY, joinedText, relayed } from '../../../test/support/chat/relay.js';
import type { RelayedStream, StreamedChunk } from '../../../test/support/chat/relay.js';
import {
  openAiChunk,
  openAiFinish,
  OPENAI_USAGE,
  plainChunk,
  sse,
  UPSTREAM_STREAMS,
} from '../../../test/support/chat/upstream-streams.js';
import type { UpstreamStream } from '../../../test/support/chat/upstream-streams.js';

function relayBody(
  body: string | Buffer,
  stream: Partial<UpstreamStream> = {},
): RelayedStream & { chunks: StreamedChunk[] } {
  const result = relayed(stream, [Buffer.from(body)]);
  return { ...result, chunks: chunksOf(result.output) };
}

const stream = (name: string): UpstreamStream => {
  const found = UPSTREAM_STREAMS.find((one) => one.name === name);
  if (!found) throw new Error(`no stream ${name}`);
  return found;
};
const named = (name: string): ReturnType<typeof relayBody> => relayBody(stream(name).body, stream(name));

const finishes = (chunks: readonly StreamedChunk[]): unknown[] =>
  chunks
    .flatMap(({ choices }) => choices)
    .flatMap(({ finish_reason }) => (finish_reason === null ? [] : [finish_reason]));

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
    if (!failure) expect(finishes(chunks)).toHaveLength(begun.size);
  });
});

describe('bytes', () => {
  it('of members that need no change pass unchanged', () => {
    const { output } = named('OpenAI: logprobs with a large seed and numbers of any spelling');
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

  it('X18: of a character that two chunks share join to the character', () => {
    const half = (text: string): string =>
      `{"choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}`;
    const { choices, output } = relayBody(sse(half('né 🙂 \\ud83d'), half('\\ude42'), openAiFinish('stop')));
    expect(choices[0]?.content).toBe('né 🙂 🙂');
    expect(joinedText(chunksOf(output))).toBe('né 🙂 🙂');
  });

  it('become the replacement character where they are not UTF-8', () => {
    const { chunks, choices } = named('a compatible server: invalid UTF-8 in a text');
    expect(joinedText(chunks)).toBe('\ufffd(\ufffd');
    expect(choices[0]?.content).toBe('\ufffd(\ufffd');
  });
});

describe('finish reasons', () => {
  it.each([
    ['eos', 'stop'],
    ['STOP', 'stop'],
    ['max_tokens', 'length'],
    ['SAFETY', 'content_filter'],
    ['function_call', 'tool_calls'],
    ['constructor', 'constructor'],
    ['something new', 'something new'],
  ])('maps %s to %s and keeps the provider’s word beside it', (word, reason) => {
    const { chunks, choices } = relayBody(sse(openAiChunk({ content: 'a' }), openAiFinish(word), '[DONE]'));
    expect(chunks.at(-1)?.choices[0]).toMatchObject({ finish_reason: reason, native_finish_reason: word });
    expect(choices[0]).toMatchObject({ finishReason: reason, nativeFinishReason: word });
  });

  it('X24: a repeated finish reason is nulled', () => {
    const { chunks } = relayBody(
      sse(
        openAiChunk({ content: 'a' }),
        openAiFinish('stop'),
        openAiFinish('stop', { usage: OPENAI_USAGE }),
        '[DONE]',
      ),
    );
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, 'stop', null]);
  });

  it('X25: an empty finish reason is null, and stop at the end', () => {
    const { chunks } = named('a compatible server: empty finish reasons throughout');
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, null, 'stop']);
    expect(chunks[2]?.choices[0]).toMatchObject({ delta: {}, native_finish_reason: '' });
  });

  it('X26: a missing key is added, and the text of the finishing chunk stays', () => {
    const { chunks } = named('vLLM: no finish reason, cumulative usage, the last token with the finish');
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, null, 'stop']);
    expect(joinedText(chunks)).toBe('last');
  });

  it('X38: usage before the finishing chunk is kept aside', () => {
    const { chunks, usage } = named(
      'a compatible server: usage before the finish, a repeated finish reason, role of a model',
    );
    expect(finishes(chunks)).toEqual(['stop']);
    expect(usage).toMatchObject({ promptTokens: 2, completionTokens: 4 });
  });
});

describe('tool calls', () => {
  const fragments = (chunks: readonly StreamedChunk[]): Record<string, never>[] =>
    chunks.flatMap(({ choices }) => choices).flatMap(({ delta }) => (delta['tool_calls'] ?? []) as never[]);

  it('X27: parallel calls without index and id get both, and the finish reason tool_calls', () => {
    const { chunks } = named('Google: usage in every chunk, parallel calls without index or id, stop');
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
    expect(chunks[1]?.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      native_finish_reason: 'stop',
    });
    expect(chunks[0]?.choices[0]?.delta).toEqual({
      role: 'assistant',
      content: '',
      extra_content: { google: { thought_signature: 'c2ln' } },
    });
  });

  it('X28: interleaved fragments keep their index', () => {
    const { chunks, choices } = named('OpenAI: two tool calls, interleaved');
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

  it('X29: text after the last fragment and null content beside a call pass unchanged', () => {
    const { output, chunks } = named('OpenAI: two tool calls, interleaved');
    expect(output).toContain('"delta":{"content":" "}');
    expect(output).toContain(
      '"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_a"',
    );
    expect(finishes(chunks)).toEqual(['tool_calls']);
  });

  it('of one index with ids of their own are calls of their own', () => {
    const { chunks, choices } = named('a compatible server: all calls under index 0, arguments as an object');
    expect(fragments(chunks)).toEqual([
      { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
      { index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } },
      { index: 1, function: { arguments: '{}' } },
    ]);
    expect(choices[0]?.toolCalls.map(({ arguments: text }) => text)).toEqual(['{"x":1}', '{}']);
  });

  it('with the id of another call get one of their own', () => {
    const call = (index: number): object => ({ index, id: 'same', function: { name: 'f', arguments: '{}' } });
    const { choices } = relayBody(
      sse(openAiChunk({ tool_calls: [call(0), call(1)] }), openAiFinish('tool_calls')),
    );
    expect(choices[0]?.toolCalls.map(({ id }) => id)).toEqual(['same', 'call_1']);
  });

  it('X14: their arguments are part of the counted text', () => {
    const { outputCount } = named('OpenAI: two tool calls, interleaved');
    expect(outputCount).toEqual({ texts: [' ', 'weather', '{"city":"Köln"}', 'time', '{}'], factor: 1 });
  });
});

describe('reasoning', () => {
  it('X30: is sent as reasoning, and as reasoning_content where the provider sends that', () => {
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
    const { output, choices, outputCount } = named('reasoning that the caller excludes');
    expect(output).not.toContain('reasoning');
    expect(choices[0]).toMatchObject({ content: 'Hi', reasoning: 'secret' });
    expect(outputCount).toMatchObject({ texts: ['Hi', 'secret'] });
  });

  it('in parts of content becomes reasoning beside a text', () => {
    const { chunks, choices } = named('Mistral: parts of content, usage in the last chunk');
    expect([joinedText(chunks), joinedText(chunks, 'reasoning')]).toEqual(['Yes!', 'Hm, é']);
    expect(choices[0]).toMatchObject({ content: 'Yes!', reasoning: 'Hm, é', finishReason: 'length' });
  });
});

describe('usage', () => {
  it('X4: cumulative reports are one report, the last', () => {
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

  it('X8: an explicit 0 stays, X16: an absent member keeps what came before', () => {
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

  it('X37: a stream without usage ends well, with the texts to count', () => {
    const { usage, failure, outputCount } = relayBody(
      sse(openAiChunk({ content: 'Hello' }), openAiFinish('stop'), '[DONE]'),
    );
    expect({ usage, failure, outputCount }).toEqual({
      usage: null,
      failure: null,
      outputCount: { texts: ['Hello'], factor: 1 },
    });
  });
});

describe('failures', () => {
  it.each([
    [
      'vLLM: an error inside the stream',
      { kind: 'provider_error', error: { message: 'too long', status: 400 } },
    ],
    ['Google: an error in a list', { kind: 'provider_error', error: { message: 'overloaded', status: 503 } }],
    [
      'a compatible server: an event named error',
      { kind: 'provider_error', error: { message: 'gone', status: 503 } },
    ],
    [
      'a compatible server: object error',
      { kind: 'provider_error', error: { message: 'model overloaded', status: 503 } },
    ],
    [
      'a compatible server: a choice that ends with an error',
      { kind: 'provider_error', error: { message: 'crashed', status: 502 } },
    ],
    ['a compatible server: an end in the middle of an event', { kind: 'broken_answer' }],
  ])('%s', (name, failure) => {
    const result = named(name);
    expect(result).toMatchObject({ failure, isFinished: true });
    expect(finishes(result.chunks)).toEqual([]);
  });

  it.each([
    ['invalid JSON', 'data: {"choices":[{"index":0,"delta":{"content":"a"}}],}\n\n'],
    ['text after the object', 'data: {"choices":[]} x\n\n'],
    ['NaN', sse(openAiChunk({ content: 'a' })).replace('"logprobs":null', '"logprobs":NaN')],
    ['a raw line break in a text', 'data: {"choices":[{"delta":{"content":"a\ndata: b"}}]}\n\n'],
    ['choices that are no array', sse({ choices: {} })],
    ['a choice that is no object', sse({ choices: [1] })],
    ['a negative index', sse(plainChunk({ index: -1, delta: {} }))],
    ['a repeated choices', 'data: {"choices":[],"choices":[]}\n\n'],
    ['nesting without an end', `data: {"a":${'['.repeat(100_000)}\n\n`],
    ['a number', 'data: 1\n\n'],
    ['[DONE] alone', 'data: [DONE]\n\n'],
    ['nothing', ''],
    ['X5: an end without a finish reason', sse(openAiChunk({ content: 'a' }), openAiChunk({ content: 'b' }))],
    ['a finish reason that is no text', sse(plainChunk({ index: 0, delta: {}, finish_reason: 1 }))],
    ['content that is a number', sse(plainChunk({ index: 0, delta: { content: 1 } }))],
    ['tool calls that are no array', sse(plainChunk({ index: 0, delta: { tool_calls: {} } }))],
    ['a tool call that is null', sse(plainChunk({ index: 0, delta: { tool_calls: [null] } }))],
  ])('%s is a broken answer', (_name, body) => {
    expect(relayBody(body)).toMatchObject({ failure: { kind: 'broken_answer' }, isFinished: true });
  });

  it('X6: an error before any content is seen while the gate is closed', () => {
    const relay = createRelay();
    relay.push(Buffer.from(sse(openAiChunk({ role: 'assistant', content: '' }))));
    expect([relay.hasContent, relay.take()]).toEqual([false, null]);
    relay.push(Buffer.from(sse({ error: { code: 429, message: 'slow down' }, choices: [] })));
    expect(relay).toMatchObject({
      hasContent: false,
      isFinished: true,
      failure: { kind: 'provider_error', error: { status: 429, message: 'slow down' } },
    });
    expect(relay.take()).toBeNull();
  });

  it('ignores bytes after the end', () => {
    const relay = createRelay();
    relay.push(
      Buffer.from(
        sse(openAiChunk({ content: 'a' }), openAiFinish('stop'), '[DONE]', openAiChunk({ content: 'b' })),
      ),
    );
    relay.push(Buffer.from(sse({ error: { message: 'late' } })));
    relay.end();
    expect([relay.failure, relay.choices()[0]?.content]).toEqual([null, 'a']);
  });
});

describe('bounds', () => {
  const text = (bytes: number): string => 'x'.repeat(bytes);

  it('X19: relays events of 70 kB and 1.5 MB, and fails above the limit', () => {
    for (const bytes of [70_000, 1_500_000]) {
      const { chunks, failure } = relayBody(
        sse(openAiChunk({ content: text(bytes) }), openAiFinish('stop'), '[DONE]'),
      );
      expect([failure, joinedText(chunks).length]).toEqual([null, bytes]);
    }
    expect(relayBody(sse(openAiChunk({ content: text(9_000_000) })))).toMatchObject({
      failure: { kind: 'broken_answer', message: 'an event of the stream is larger than 8388608 bytes' },
    });
  });

  it('X20: a line without an end fails at the limit, without more memory than that', () => {
    const relay = createRelay();
    const piece = Buffer.from(text(65_536));
    let pieces = 0;
    let mostHeld = 0;
    while (!relay.isFinished && pieces < 1_000) {
      relay.push(piece);
      mostHeld = Math.max(mostHeld, relay.heldBytes);
      pieces++;
    }
    expect(relay.failure).toMatchObject({ kind: 'broken_answer' });
    expect(pieces).toBe(129);
    expect(mostHeld).toBeLessThanOrEqual(16_777_216);
  });

  it('an answer above its limit fails', () => {
    const relay = createRelay({}, { maxAnswerBytes: 1_000 });
    for (let count = 0; count < 10; count++) relay.push(Buffer.from(sse(openAiChunk({ content: 'a' }))));
    expect(relay.failure).toEqual({ kind: 'broken_answer', message: 'the answer is larger than 1000 bytes' });
  });

  it('opens the gate for 64 KiB of chunks without content', () => {
    const relay = createRelay();
    for (let count = 0; count < 300; count++) relay.push(Buffer.from(sse(openAiChunk({ content: '' }))));
    expect(relay.hasContent).toBe(true);
    expect(relay.take()?.length).toBeGreaterThan(65_536);
  });

  it('keeps 256 KiB of the texts, the longest cut first, and counts the rest at their rate', () => {
    const { choices, outputCount } = relayBody(
      sse(
        openAiChunk({ reasoning: text(1_000) }),
        ...Array.from({ length: 10 }, () => openAiChunk({ content: '🙂"'.repeat(10_000) })),
        openAiChunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: text(2_000) } }] }),
        openAiFinish('tool_calls'),
      ),
    );
    const [choice] = choices;
    expect(choice?.reasoning).toHaveLength(1_000);
    expect(choice?.toolCalls[0]?.arguments).toHaveLength(2_000);
    expect(JSON.stringify(choices).length).toBeLessThanOrEqual(262_144 + 1_000);
    expect(choice?.content).toMatch(/^(?:🙂")+(?:🙂)?$/u);
    const { factor } = outputCount as { factor: number };
    expect(factor).toBeCloseTo((10 * 60_000 + 3_001) / 262_144, 3);
  });

  it('more than 1,024 tool calls are a broken answer', () => {
    const calls = Array.from({ length: 1_025 }, (_, index) => ({
      index,
      id: `c${index}`,
      function: { name: 'f' },
    }));
    expect(relayBody(sse(openAiChunk({ tool_calls: calls })))).toMatchObject({
      failure: { kind: 'broken_answer' },
    });
  });

  it('an idle relay holds little', () => {
    const relay = createRelay();
    for (let count = 0; count < 20; count++) {
      relay.push(Buffer.from(sse(openAiChunk({ content: 'some words' }))));
      relay.take();
    }
    expect(relay.heldBytes).toBeLessThanOrEqual(4_096);
  });
});
