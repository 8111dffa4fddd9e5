// Streams that fail, and the bounds of a relay.
import { describe, expect, it } from '@jest/globals';
import {
  createRelay,
  finishReasonsOf,
  joinedText,
  relayBody,
  relayNamed,
} from '../../../test/support/chat/relay.js';
import { openAiChunk, openAiFinish, plainChunk, sse } from '../../../test/support/chat/upstream-streams.js';

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
    const result = relayNamed(name);
    expect(result).toMatchObject({ failure, isFinished: true });
    expect(finishReasonsOf(result.chunks)).toEqual([]);
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
    ['an end without a finish reason', sse(openAiChunk({ content: 'a' }), openAiChunk({ content: 'b' }))],
    ['a finish reason that is no text', sse(plainChunk({ index: 0, delta: {}, finish_reason: 1 }))],
    ['content that is a number', sse(plainChunk({ index: 0, delta: { content: 1 } }))],
    ['tool calls that are no array', sse(plainChunk({ index: 0, delta: { tool_calls: {} } }))],
    ['a tool call that is null', sse(plainChunk({ index: 0, delta: { tool_calls: [null] } }))],
  ])('%s is a broken answer', (_name, body) => {
    expect(relayBody(body)).toMatchObject({ failure: { kind: 'broken_answer' }, isFinished: true });
  });

  it('an error before any content is seen while the gate is closed', () => {
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

  it('relays events of 70 kB and 1.5 MB, and fails above the limit', () => {
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

  it('a line without an end fails at the limit, without more memory than that', () => {
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
