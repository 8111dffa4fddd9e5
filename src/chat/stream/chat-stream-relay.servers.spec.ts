// Servers that order or spell their answers differently, and what never changes: bytes that nothing looks at.
import { describe, expect, it } from '@jest/globals';
import { createRelay, finishReasonsOf, joinedText, relayBody } from '../../../test/support/chat/relay.js';
import {
  openAiChunk,
  openAiFinish,
  OPENAI_USAGE,
  plainChunk,
  sse,
} from '../../../test/support/chat/upstream-streams.js';

const call = (members: object, name?: string, text?: string): object => ({
  index: 0,
  ...members,
  function: { ...(name !== undefined && { name }), ...(text !== undefined && { arguments: text }) },
});
const relayCalls = (...chunks: readonly (readonly object[])[]): ReturnType<typeof relayBody> =>
  relayBody(
    sse(...chunks.map((calls) => openAiChunk({ tool_calls: calls })), openAiFinish('tool_calls'), '[DONE]'),
  );
const callsOf = ({ choices }: ReturnType<typeof relayBody>): unknown => choices[0]?.toolCalls;

describe('a chunk that is edited', () => {
  const NUMBERS =
    '"seed":9007199254740993,"big":-12345678901234567890,"far":1e400,"zero":-0,"one":1.0,"small":1.50E-7';
  const UNKNOWN = `"x":{"a":1,"a":2,"b":[1.0, 2]},"y":1,"y":2`;

  it('keeps numbers, unknown and repeated members and their order, in every object', () => {
    const fragment = `{${NUMBERS},"id":"","function":{${UNKNOWN},"arguments":"{}","name":"f"},${UNKNOWN}}`;
    const delta = `{"role":"model",${NUMBERS},"tool_calls":[${fragment}],${UNKNOWN}}`;
    const choice = `{"delta":${delta},${NUMBERS},${UNKNOWN}}`;
    const { output } = relayBody(
      `data: {"id":"a",${NUMBERS},"choices":[${choice}],${UNKNOWN},"usage":{}}\n\n${sse(openAiFinish('stop'))}`,
    );
    const fragmentSent = `{${NUMBERS},"id":"call_1","function":{${UNKNOWN},"arguments":"{}","name":"f"},${UNKNOWN},"type":"function","index":0}`;
    const edited = `{"role":"assistant",${NUMBERS},"tool_calls":[${fragmentSent}],${UNKNOWN}}`;
    const choices = `{"delta":${edited},${NUMBERS},${UNKNOWN},"index":0,"finish_reason":null}`;
    expect(output.split('\n\n')[0]).toBe(
      'data: {"id":"gen-1790000000-Ab3","object":"chat.completion.chunk","created":1790000002,"model":"vendor/model",' +
        `"provider":"Stub",${NUMBERS},"choices":[${choices}],${UNKNOWN}}`,
    );
  });

  it('prints arguments that are an object with their own digits', () => {
    const { choices } = relayBody(
      `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"n":9007199254740993}}}]}}]}\n\n${sse(openAiFinish('stop'))}`,
    );
    expect(choices[0]?.toolCalls).toEqual([{ id: 'a', name: 'f', arguments: '{"n":9007199254740993}' }]);
  });
});

describe('finish reasons that end nothing', () => {
  const finished = (content: string, reason = 'stop'): object =>
    plainChunk({ index: 0, delta: { content }, finish_reason: reason });

  it('in every chunk are one reason, behind the whole text and before the usage', () => {
    const pieces = ['one', ' two', ' three'];
    const { chunks, usage, failure, choices } = relayBody(
      sse(...pieces.map((piece) => finished(piece)), plainChunk({}, { choices: [], usage: OPENAI_USAGE })),
    );
    expect(failure).toBeNull();
    expect(joinedText(chunks)).toBe('one two three');
    expect(chunks.map(({ choices: [choice] }) => choice?.finish_reason)).toEqual([null, null, null, 'stop']);
    expect(choices[0]).toMatchObject({ content: 'one two three', finishReason: 'stop' });
    expect(usage).toMatchObject({ completionTokens: 12 });
  });

  it('are followed by the last one', () => {
    const { chunks } = relayBody(sse(finished('a'), finished('b', 'length'), '[DONE]'));
    expect(finishReasonsOf(chunks)).toEqual(['length']);
  });

  it('are counted as events in a wrong order', () => {
    const relay = createRelay();
    relay.push(Buffer.from(sse(finished('a'))));
    expect([relay.isOutOfOrder, relay.continuations, relay.awaitsUsageOnly]).toEqual([false, 0, true]);
    relay.push(Buffer.from(sse(finished('b'))));
    expect([relay.isOutOfOrder, relay.continuations]).toEqual([true, 1]);
  });
});

describe('nothing behind the last finish reason fails an answer', () => {
  const complete = sse(openAiChunk({ content: 'Hi' }), openAiFinish('stop'));

  it.each([
    ['a broken event', 'data: {"choices":[}\n\n'],
    ['an error', sse({ error: { code: 500, message: 'late' } })],
    ['an event named error', 'event: error\ndata: x\n\n'],
    ['a choice that was not asked for', sse(plainChunk({ index: 7, delta: { content: 'x' } }))],
    ['half of an event', 'data: {"cho'],
  ])('%s', (_name, behind) => {
    const { failure, isFinished, chunks } = relayBody(complete + behind);
    expect([failure, isFinished, finishReasonsOf(chunks)]).toEqual([null, true, ['stop']]);
  });

  it('a lost connection', () => {
    const relay = createRelay();
    relay.push(Buffer.from(complete));
    relay.fail({ kind: 'connection', message: 'ECONNRESET' });
    expect(relay).toMatchObject({ failure: null, isFinished: true });
    expect(relay.take()?.toString()).toContain('"finish_reason":"stop"');
  });

  it('but before it they do', () => {
    const body = sse(openAiChunk({ content: 'Hi' }), { error: { code: 500, message: 'early' } });
    expect(relayBody(body)).toMatchObject({ failure: { kind: 'provider_error' } });
  });
});

describe('tool calls', () => {
  it('a fragment that names no function begins none, whatever its id is', () => {
    const relayed = relayCalls(
      [call({ id: '941' }, 'weather', '')],
      [call({ id: '942' }, undefined, '{"city":')],
      [call({ id: '943' }, undefined, '"Köln"')],
      [call({ id: '944' }, undefined, '}')],
    );
    expect(callsOf(relayed)).toEqual([{ id: '941', name: 'weather', arguments: '{"city":"Köln"}' }]);
  });

  it('two that say the same index and have names stay two, and get their fragments by their ids', () => {
    const relayed = relayCalls(
      [call({ id: 'a' }, 'weather', '{'), call({ id: 'b' }, 'weather', '{')],
      [call({ id: 'a' }, undefined, '"x":1}'), call({ id: 'b' }, undefined, '"x":2}')],
    );
    expect(callsOf(relayed)).toEqual([
      { id: 'a', name: 'weather', arguments: '{"x":1}' },
      { id: 'b', name: 'weather', arguments: '{"x":2}' },
    ]);
  });

  it('whose name comes later begin with it', () => {
    const { chunks, choices, output } = relayCalls(
      [call({ id: 'a' }, undefined, '{"x"')],
      [call({}, undefined, ':')],
      [call({}, 'weather', '1}')],
    );
    expect(choices[0]?.toolCalls).toEqual([{ id: 'a', name: 'weather', arguments: '{"x":1}' }]);
    expect(chunks.flatMap(({ choices: [one] }) => one?.delta['tool_calls'] ?? [])).toHaveLength(1);
    expect(output).toContain('"arguments":"{\\"x\\":1}"');
  });

  it('without a name at all are not sent, and count as out of order', () => {
    const relay = createRelay();
    const chunk = openAiChunk({ content: 'Hi', tool_calls: [call({ id: 'a' }, undefined, '{}')] });
    relay.push(Buffer.from(sse(chunk, openAiFinish('stop'), '[DONE]')));
    expect(relay.choices()[0]).toMatchObject({ content: 'Hi', toolCalls: [], finishReason: 'stop' });
    expect(relay.isOutOfOrder).toBe(true);
  });

  it.each([
    ['an empty text', call({ id: 'a' }, 'f', '')],
    ['no arguments', call({ id: 'a' }, 'f')],
    ['null', { index: 0, id: 'a', function: { name: 'f', arguments: null } }],
  ])('with %s as arguments end with an empty object', (_name, fragment) => {
    const relayed = relayCalls([fragment]);
    expect(callsOf(relayed)).toEqual([{ id: 'a', name: 'f', arguments: '{}' }]);
    const texts = relayed.chunks
      .flatMap(
        ({ choices: [one] }) => (one?.delta['tool_calls'] ?? []) as { function: { arguments: string } }[],
      )
      .map(({ function: called }) => called.arguments);
    expect(texts.join('')).toBe('{}');
  });
});

describe('bounds of this service', () => {
  it('a choice that was not asked for', () => {
    const relay = createRelay({ choiceCount: 2 });
    relay.push(Buffer.from(sse(plainChunk({ index: 1, delta: { content: 'a' } }))));
    relay.push(Buffer.from(sse(plainChunk({ index: 2, delta: { content: 'b' } }))));
    expect(relay.boundExceeded).toBe('the answer has a choice 2: the request asked for 2');
    expect(relay.failure).toMatchObject({ kind: 'broken_answer' });
  });

  it('tool calls of all choices together', () => {
    const relay = createRelay({ choiceCount: 128 });
    for (let index = 0; index < 128 && !relay.isFinished; index++) {
      const calls = Array.from({ length: 9 }, (_value, at) => ({ index: at, function: { name: 'f' } }));
      relay.push(Buffer.from(sse(plainChunk({ index, delta: { tool_calls: calls } }))));
    }
    expect(relay.boundExceeded).toBe('the answer has more than 1024 tool calls');
  });

  it.each([
    ['of bytes', { maxAnswerBytes: 100 }],
    ['of an event', { maxEventBytes: 100 }],
  ])('%s', (_name, limits) => {
    const relay = createRelay({}, limits);
    relay.push(Buffer.from(sse(openAiChunk({ content: 'x' }))));
    expect(relay.boundExceeded).toMatch(/larger than 100 bytes$/);
  });

  it('are none where the provider is at fault', () => {
    const relay = createRelay();
    relay.push(Buffer.from('data: {\n\n'));
    expect([relay.boundExceeded, relay.failure?.kind]).toEqual([null, 'broken_answer']);
  });
});
