// The count of a prompt whose provider reports none.
import * as fc from '../../../test/support/fast-check.js';
import { describe, expect, it } from '@jest/globals';
import { chatEndpoint } from '../../../test/support/chat-providers/send-chat.js';
import { readChat } from '../../../test/support/chat/read-chat.js';
import { NEVER_YIELD } from '../../concurrency/yield-queue.js';
import type { ChatEndpoint } from '../../domain/chat/chat-model.js';
import { countedChatUsage } from '../../domain/chat/chat-usage.js';
import { findProvider } from '../../providers/index.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { atLeast, countPrompt } from './counted-prompt.js';
import { measurePrompt, promptBound } from './prompt-size.js';

const SHORT = 'x';
/** A request with a text in every member that carries one to the server; `place` has the long one. */
const PLACES = [
  'content',
  'part',
  'reasoning',
  'refusal',
  'arguments',
  'callId',
  'result',
  'name',
  'description',
  'unknown',
] as const;
type Place = (typeof PLACES)[number];

function requestWith(place: Place, text: string): object {
  const at = (other: Place): string => (other === place ? text : SHORT);
  return {
    messages: [
      { role: 'user', content: at('content'), name: at('name') },
      { role: 'user', content: [{ type: 'text', text: at('part') }] },
      {
        role: 'assistant',
        content: [{ type: 'refusal', refusal: at('refusal') }],
        reasoning: at('reasoning'),
        tool_calls: [
          { id: at('callId'), type: 'function', function: { name: 'f', arguments: at('arguments') } },
        ],
      },
      { role: 'tool', tool_call_id: SHORT, content: at('result') },
    ],
    tools: [{ type: 'function', function: { name: 'f', description: at('description') } }],
    documents: [{ text: at('unknown') }],
  };
}

function targetOf(changes: Partial<ChatEndpoint> = {}, slug = 'vllm'): ChatTarget {
  const endpoint = chatEndpoint(slug, { allowedMembers: ['documents'], ...changes });
  return {
    model: { tokenizer: null },
    endpoint,
    wire: findProvider(slug)?.chat,
    credential: null,
  } as unknown as ChatTarget;
}

async function countOf(members: object, target = targetOf()): Promise<number> {
  const { request } = readChat(members);
  const size = await measurePrompt(request, NEVER_YIELD);
  return countPrompt(request, size, target, NEVER_YIELD);
}

const WORDS = 'the gateway counts every word that a caller sends, wherever it stands. Größe 12 of it'.split(
  ' ',
);
const prose = fc
  .array(fc.constantFrom(...WORDS), { minLength: 500, maxLength: 1_500 })
  .map((words) => words.join(' '));
const anyText = fc.string({ unit: 'grapheme-ascii', minLength: 2_000, maxLength: 4_000 });

async function ratioOf(places: readonly Place[], text: string): Promise<number> {
  const counts = await Promise.all(places.map((place) => countOf(requestWith(place, text))));
  return Math.max(...counts) / Math.min(...counts);
}

describe('a text', () => {
  it('counts much the same in every member of a request', async () => {
    await fc.assert(
      fc.asyncProperty(prose, async (text) => {
        expect(await ratioOf(PLACES, text)).toBeLessThan(1.5);
      }),
    );
  });

  it('of any signs counts much the same in every known member', async () => {
    const known = PLACES.filter((place) => place !== 'unknown' && place !== 'description');
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        expect(await ratioOf(known, text)).toBeLessThan(1.5);
      }),
    );
  });

  it('counts nothing where the wire does not send it', async () => {
    const long = 'word '.repeat(5_000);
    const short = await countOf(requestWith('content', SHORT), targetOf({}, 'mistral'));
    expect(await countOf(requestWith('reasoning', long), targetOf({}, 'mistral'))).toBe(short);
    const closed = targetOf({ allowedMembers: [] });
    expect(await countOf(requestWith('unknown', long), closed)).toBe(
      await countOf(requestWith('unknown', SHORT), closed),
    );
  });

  it('never counts more than the bound of the call', async () => {
    const target = targetOf({ contextLength: 1_000 });
    const { request } = readChat(requestWith('reasoning', 'word '.repeat(5_000)));
    const size = await measurePrompt(request, NEVER_YIELD);
    expect(promptBound(size, target.endpoint)).toBe(1_000);
    expect(await countPrompt(request, size, target, NEVER_YIELD)).toBe(1_000);
  });
});

it('a report before the end is a lower bound of the count', () => {
  expect(atLeast(countedChatUsage(10, 20), countedChatUsage(30, 5))).toEqual(countedChatUsage(30, 20));
  expect(atLeast(countedChatUsage(10, 20), undefined)).toEqual(countedChatUsage(10, 20));
});
