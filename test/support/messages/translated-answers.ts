// Any answer of a model, written in either wire: texts, thoughts with their signatures, and calls.
import * as fc from '../fast-check.js';
import { plainChunk, sse } from '../chat/upstream-streams.js';
import {
  blockDelta,
  blockStart,
  blockStop,
  messageDelta,
  messagesEvent,
  messageStart,
  MESSAGE_STOP,
} from './messages-stub.js';
import { countedChatUsage } from '../../../src/domain/chat/chat-usage.js';

export type Block =
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
export const scenarios = fc
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
export const finishOf = (blocks: readonly Block[]): string =>
  blocks.some(({ type }) => type === 'call') ? 'tool_use' : 'end_turn';
export const USAGE = { input_tokens: 40, cache_read_input_tokens: 30, cache_creation_input_tokens: 20 };
export const CHARGED = { ...countedChatUsage(90, 8), cachedTokens: 30, cacheWriteTokens: 20 };

export function messagesStream({ blocks, size }: Scenario): string {
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

export const CHAT_USAGE = {
  prompt_tokens: 90,
  completion_tokens: 8,
  total_tokens: 98,
  prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
};

export function chatStream({ blocks, size }: Scenario): string {
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

interface Essence {
  readonly text: string;
  readonly reasoning: string;
  /** Id, name and arguments. */
  readonly calls: string[][];
}

/** A translation keeps these parts. Chat joins all texts, and all thoughts. */
export function essence(blocks: readonly Block[]): Essence {
  const joined = (type: Block['type']) =>
    blocks.flatMap((block) => (block.type === type ? spelled(block) : []));
  return {
    text: joined('text').join(''),
    reasoning: joined('thinking').join(''),
    calls: blocks.flatMap((block) => (block.type === 'call' ? [[block.id, block.name, spelled(block)]] : [])),
  };
}

export const signatures = (blocks: readonly Block[]): string[] =>
  blocks.flatMap((block) => (block.type === 'thinking' ? (block.signature ?? []) : []));
