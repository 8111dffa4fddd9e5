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
import { readMessageStream } from '../../../test/support/messages/read-messages-stream.js';
import {
  CHARGED,
  CHAT_USAGE,
  chatStream,
  essence,
  finishOf,
  messagesStream,
  scenarios,
  signatures,
  USAGE,
} from '../../../test/support/messages/translated-answers.js';
import type { Block } from '../../../test/support/messages/translated-answers.js';
import { NEVER_YIELD } from '../../concurrency/yield-queue.js';
import { readChatAnswer } from '../stream/chat-answer.js';

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
