// Any answer of one wire, translated into the other: texts, thoughts with their signatures, calls, usage and the finish reason
// are the same, streamed and whole, wherever the stream is cut.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { piecesOf } from '../../../test/support/chat/pieces.js';
import {
  ANSWER_OPTIONS,
  answerEnd,
  chunksOf,
  joinedText,
  relayed,
} from '../../../test/support/chat/relay.js';
import type { StreamedChunk } from '../../../test/support/chat/relay.js';
import { plainChunk, sse } from '../../../test/support/chat/upstream-streams.js';
import {
  blockDelta,
  blockStart,
  blockStop,
  messageDelta,
  messagesEvent,
  messageStart,
  MESSAGE_STOP,
} from '../../../test/support/messages/messages-stub.js';
import { readMessageStream } from '../../../test/support/messages/read-messages-stream.js';
import { NEVER_YIELD } from '../../concurrency/yield-queue.js';
import { countedChatUsage } from '../../domain/chat/chat-usage.js';
import { readChatAnswer } from '../stream/chat-answer.js';

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string; readonly signature: string | null }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: object };
interface Scenario {
  readonly blocks: readonly Block[];
  /** How many characters a delta has. */
  readonly size: number;
  readonly isCut: boolean;
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const input = fc.dictionary(
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 5 }).filter((name) => name !== '__proto__'),
  fc.oneof(text, fc.integer(), fc.boolean()),
  { maxKeys: 3 },
);
const name = fc.stringMatching(/^[a-z_]{1,8}$/);
const scenarios = fc
  .record({
    blocks: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('text' as const), text }),
        fc.record({
          type: fc.constant('thinking' as const),
          text,
          signature: fc.option(fc.stringMatching(/^[A-Za-z0-9+/]{4,20}$/)),
        }),
        fc.record({ type: fc.constant('call' as const), id: fc.constant<string>(''), name, input }),
      ),
      { minLength: 1, maxLength: 6 },
    ),
    size: fc.integer({ min: 1, max: 5 }),
    isCut: fc.boolean(),
  })
  .map(({ blocks, size, isCut }): Scenario => {
    for (const [index, block] of blocks.entries()) if (block.type === 'call') block.id = `call_${index}`;
    return { blocks, size, isCut };
  });

function parts(whole: string, size: number): string[] {
  const characters = [...whole];
  return Array.from({ length: Math.ceil(characters.length / size) }, (_none, at) =>
    characters.slice(at * size, (at + 1) * size).join(''),
  );
}

const spelled = (block: Block): string => (block.type === 'call' ? JSON.stringify(block.input) : block.text);
const finishOf = (blocks: readonly Block[]): string =>
  blocks.some(({ type }) => type === 'call') ? 'tool_use' : 'end_turn';
const USAGE = { input_tokens: 40, cache_read_input_tokens: 30, cache_creation_input_tokens: 20 };
const CHARGED = { ...countedChatUsage(90, 8), cachedTokens: 30, cacheWriteTokens: 20 };

function messagesStream({ blocks, size }: Scenario): string {
  const events = blocks.flatMap((block, index) => {
    const start =
      block.type === 'call'
        ? { type: 'tool_use', id: block.id, name: block.name, input: {} }
        : { type: block.type, [block.type]: '' };
    const deltas = parts(spelled(block), size).map((part) =>
      block.type === 'call'
        ? { type: 'input_json_delta', partial_json: part }
        : { type: `${block.type}_delta`, [block.type]: part },
    );
    const signature = block.type === 'thinking' && block.signature !== null ? block.signature : null;
    const signed = signature === null ? [] : [{ type: 'signature_delta', signature }];
    return [
      blockStart(index, start),
      ...[...deltas, ...signed].map((delta) => blockDelta(index, delta)),
      blockStop(index),
    ];
  });
  const end = [messageDelta(finishOf(blocks), { output_tokens: 8 }), MESSAGE_STOP];
  return [messageStart({ ...USAGE, output_tokens: 1 }), ...events, ...end].map(messagesEvent).join('');
}

const CHAT_USAGE = {
  prompt_tokens: 90,
  completion_tokens: 8,
  total_tokens: 98,
  prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
};

function chatStream({ blocks, size }: Scenario): string {
  let calls = -1;
  const deltas = blocks.flatMap((block): object[] => {
    if (block.type !== 'call') {
      const member = block.type === 'text' ? 'content' : 'reasoning';
      return parts(block.text, size).map((part) => ({ [member]: part }));
    }
    const index = ++calls;
    const start = { index, id: block.id, type: 'function', function: { name: block.name, arguments: '' } };
    const rest = parts(spelled(block), size).map((part) => ({ index, function: { arguments: part } }));
    return [start, ...rest].map((fragment) => ({ tool_calls: [fragment] }));
  });
  const finish = finishOf(blocks) === 'tool_use' ? 'tool_calls' : 'stop';
  return sse(
    ...deltas.map((delta) => plainChunk({ index: 0, delta, finish_reason: null })),
    plainChunk({ index: 0, delta: {}, finish_reason: finish }),
    { ...plainChunk({}), choices: [], usage: CHAT_USAGE },
    '[DONE]',
  );
}

/** A translation keeps these parts. Chat joins all texts, and all thoughts. */
function essence(blocks: readonly Block[]) {
  const joined = (type: Block['type']) =>
    blocks.flatMap((block) => (block.type === type ? spelled(block) : []));
  return {
    text: joined('text').join(''),
    reasoning: joined('thinking').join(''),
    calls: blocks.flatMap((block) => (block.type === 'call' ? [[block.id, block.name, spelled(block)]] : [])),
  };
}

const signatures = (blocks: readonly Block[]): string[] =>
  blocks.flatMap((block) => (block.type === 'thinking' ? (block.signature ?? []) : []));

function essenceOfChunks(chunks: readonly StreamedChunk[]) {
  const calls: [string, string, string][] = [];
  const fragments = chunks.flatMap(({ choices }) =>
    choices.flatMap(({ delta }) => (delta['tool_calls'] ?? []) as ChatFragment[]),
  );
  for (const { index, id, function: called } of fragments) {
    const call = (calls[index] ??= ['', '', '']);
    if (id !== undefined) call[0] = id;
    if (called.name !== undefined) call[1] = called.name;
    call[2] += called.arguments ?? '';
  }
  return { text: joinedText(chunks), reasoning: joinedText(chunks, 'reasoning'), calls };
}

interface ChatFragment {
  readonly index: number;
  readonly id?: string;
  readonly function: { readonly name?: string; readonly arguments?: string };
}

/** Cut into reads of seven bytes. */
const readsOf = (body: Buffer, isCut: boolean): Iterable<Buffer> =>
  isCut
    ? piecesOf(
        body,
        Array.from({ length: Math.floor(body.length / 7) }, (_none, at) => at * 7),
      )
    : [body];

describe('a stream of Messages', () => {
  it('keeps its answer for a client of Chat', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const body = Buffer.from(messagesStream(scenario));
        const stream = { protocol: 'messages', client: 'chat' } as const;
        const { output, failure, usage } = relayed(stream, readsOf(body, scenario.isCut));
        expect(failure).toBeNull();
        const chunks = chunksOf(output);
        expect(essenceOfChunks(chunks)).toEqual(essence(scenario.blocks));
        const details = chunks.flatMap(({ choices }) =>
          choices.flatMap(({ delta }) => (delta['reasoning_details'] ?? []) as { signature?: string }[]),
        );
        expect(details.flatMap(({ signature }) => signature ?? [])).toEqual(signatures(scenario.blocks));
        expect(usage).toMatchObject({
          promptTokens: 90,
          completionTokens: 8,
          cachedTokens: 30,
          cacheWriteTokens: 20,
        });
        const finish = chunks.flatMap(({ choices }) =>
          choices.flatMap(({ finish_reason: reason }) => reason ?? []),
        );
        expect(finish).toEqual([finishOf(scenario.blocks) === 'tool_use' ? 'tool_calls' : 'stop']);
      }),
    );
  });
});

describe('a stream of Chat', () => {
  it('keeps its answer for a client of Messages', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const body = Buffer.from(chatStream(scenario));
        const stream = { protocol: 'chat', client: 'messages' } as const;
        const { output, last, failure, usage } = relayed(stream, readsOf(body, scenario.isCut));
        expect(failure).toBeNull();
        const message = readMessageStream(output + last);
        const read = message.blocks.map((block): Block => {
          if (block.type === 'text') return { type: 'text', text: block.text };
          if (block.type === 'thinking')
            return { type: 'thinking', text: block.text, signature: block.signature };
          const { id = '', name: called = '' } = block;
          return { type: 'call', id, name: called, input: JSON.parse(block.text) as object };
        });
        expect(essence(read)).toEqual(essence(scenario.blocks));
        expect(new Set(signatures(read))).toEqual(
          new Set(scenario.blocks.some(({ type }) => type === 'thinking') ? ['sbx1.none'] : []),
        );
        expect(usage).toMatchObject({
          promptTokens: 90,
          completionTokens: 8,
          cachedTokens: 30,
          cacheWriteTokens: 20,
        });
        expect(message.delta).toMatchObject({ stop_reason: finishOf(scenario.blocks) });
      }),
    );
  });
});

describe('a whole answer', () => {
  const end = { ...answerEnd(), usage: CHARGED };
  const read = async (answer: object, client: 'chat' | 'messages', protocol: 'chat' | 'messages') => {
    const options = { ...ANSWER_OPTIONS, client, wire: { ...ANSWER_OPTIONS.wire, protocol } };
    const result = await readChatAnswer(Buffer.from(JSON.stringify(answer)), options, NEVER_YIELD);
    if (!('answer' in result)) throw new Error(JSON.stringify(result.failure));
    return JSON.parse(Buffer.concat(result.answer.body(end)).toString()) as Record<string, unknown>;
  };

  it('of Messages keeps its blocks for a client of Chat, and its usage', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async ({ blocks }) => {
        const content = blocks.map((block) => {
          if (block.type === 'call')
            return { type: 'tool_use', id: block.id, name: block.name, input: block.input };
          if (block.type === 'text') return block;
          const { text: thinking, signature } = block;
          return { type: 'thinking', thinking, ...(signature === null ? {} : { signature }) };
        });
        const usage = { ...USAGE, output_tokens: 8 };
        const answer = { type: 'message', id: 'msg_1', content, stop_reason: finishOf(blocks), usage };
        const { choices, usage: shown } = (await read(answer, 'chat', 'messages')) as {
          choices: [{ message: Record<string, unknown>; finish_reason: string }];
          usage: object;
        };
        const [{ message }] = choices;
        const calls = (message['tool_calls'] ?? []) as {
          id: string;
          function: { name: string; arguments: string };
        }[];
        expect({
          text: message['content'] ?? '',
          reasoning: message['reasoning'] ?? '',
          calls: calls.map(({ id, function: { name: called, arguments: written } }) => [id, called, written]),
        }).toEqual(essence(blocks));
        const details = (message['reasoning_details'] ?? []) as { signature?: string }[];
        expect(details.flatMap(({ signature }) => signature ?? [])).toEqual(signatures(blocks));
        expect(shown).toMatchObject(CHAT_USAGE);
      }),
    );
  });

  it('of Chat keeps its parts for a client of Messages, and its usage', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async ({ blocks }) => {
        const { text: content, reasoning, calls } = essence(blocks);
        const message = {
          role: 'assistant',
          content,
          ...(reasoning !== '' && { reasoning }),
          ...(calls.length > 0 && {
            tool_calls: calls.map(([id, called, written]) => ({
              id,
              type: 'function',
              function: { name: called, arguments: written },
            })),
          }),
        };
        const finish = calls.length > 0 ? 'tool_calls' : 'stop';
        const answer = {
          id: 'c',
          choices: [{ index: 0, message, finish_reason: finish }],
          usage: CHAT_USAGE,
        };
        const body = (await read(answer, 'messages', 'chat')) as {
          content: {
            type: string;
            id: string;
            name: string;
            text: string;
            thinking: string;
            input: object;
          }[];
          usage: object;
          stop_reason: string;
        };
        const of = (type: string) => body.content.filter((block) => block.type === type);
        expect({
          text: of('text')
            .map((block) => block.text)
            .join(''),
          reasoning: of('thinking')
            .map((block) => block.thinking)
            .join(''),
          calls: of('tool_use').map((block) => [block.id, block.name, JSON.stringify(block.input)]),
        }).toEqual(essence(blocks));
        expect(body.usage).toMatchObject({ ...USAGE, output_tokens: 8 });
        expect(body.stop_reason).toBe(finishOf(blocks));
      }),
    );
  });
});
