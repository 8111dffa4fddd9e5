// Requests of either wire, translated into the other and back: texts, calls with their arguments, results and thoughts with their
// signatures stay, in their order.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../../test/support/fast-check.js';
import { promptInMessages } from '../../../providers/shared/messages/messages-turns.js';
import type { ChatMessage } from '../../../domain/chat/chat-request.js';
import { readChatText } from '../../../../test/support/chat/read-chat.js';
import { readMessagesRequest } from './read-messages-request.js';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 });
const signature = fc.stringMatching(/^[A-Za-z0-9+/]{4,20}$/);
const input = fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.oneof(text, fc.integer(), fc.boolean()), {
  maxKeys: 3,
});

interface Exchange {
  readonly asked: string;
  readonly thoughts: readonly { readonly text: string; readonly signature: string }[];
  readonly said: string | null;
  readonly calls: readonly { readonly input: object; readonly result: string }[];
}
const exchanges = fc.array(
  fc.record<Exchange>({
    asked: text,
    thoughts: fc.array(fc.record({ text, signature }), { maxLength: 2 }),
    said: fc.option(text),
    calls: fc.array(fc.record({ input, result: text }), { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 4 },
);

const idOf = (turn: number, call: number): string => `call_${turn}_${call}`;

/** Blocks of the Messages wire. Results come first in the turn of the next question. */
function inMessages(history: readonly Exchange[]): object[] {
  let results: object[] = [];
  const turns = history.flatMap(({ asked, thoughts, said, calls }, turn) => {
    const user = { role: 'user', content: [...results, { type: 'text', text: asked }] };
    results = calls.map(({ result }, call) => ({
      type: 'tool_result',
      tool_use_id: idOf(turn, call),
      content: [{ type: 'text', text: result }],
    }));
    const content = [
      ...thoughts.map((thought) => ({
        type: 'thinking',
        thinking: thought.text,
        signature: thought.signature,
      })),
      ...(said === null ? [] : [{ type: 'text', text: said }]),
      ...calls.map((called, call) => ({
        type: 'tool_use',
        id: idOf(turn, call),
        name: 'look_up',
        input: called.input,
      })),
    ];
    return content.length === 0 ? [user] : [user, { role: 'assistant', content }];
  });
  return results.length === 0 ? turns : [...turns, { role: 'user', content: results }];
}

/** Messages of Chat. */
function inChat(history: readonly Exchange[]): object[] {
  return history.flatMap(({ asked, thoughts, said, calls }, turn) => {
    const user = { role: 'user', content: asked };
    if (thoughts.length === 0 && said === null && calls.length === 0) return [user];
    const details = thoughts.map((thought, index) => ({
      type: 'reasoning.text',
      format: 'anthropic-claude-v1',
      index,
      ...thought,
    }));
    const called = calls.map((call, index) => ({
      id: idOf(turn, index),
      type: 'function',
      function: { name: 'look_up', arguments: JSON.stringify(call.input) },
    }));
    const assistant = {
      role: 'assistant',
      content: said,
      ...(called.length > 0 && { tool_calls: called }),
      ...(details.length > 0 && { reasoning_details: details }),
    };
    const results = calls.map(({ result }, index) => ({
      role: 'tool',
      tool_call_id: idOf(turn, index),
      content: result,
    }));
    return [user, assistant, ...results];
  });
}

const readMessages = (messages: readonly object[]) => {
  const body = { model: 'a/b', max_tokens: 10, messages };
  return readMessagesRequest(body, Buffer.from(JSON.stringify(body)), {}).request;
};

/** The members that a translation must keep, without the spelling of each wire. */
const kept = ({ role, content, toolCalls, toolCallId, body }: ChatMessage) => ({
  role,
  text:
    typeof content === 'string'
      ? content
      : (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''),
  calls: toolCalls,
  toolCallId,
  thoughts: ((body['reasoning_details'] ?? []) as { text: string; signature: string }[]).map(
    (detail) => [detail.text, detail.signature] as const,
  ),
});

/** Neighbours of one role are one turn. */
function turnsOf(messages: readonly object[]): object[] {
  const turns: { role: string; content: object[] }[] = [];
  for (const { role, content } of messages as { role: string; content: object[] }[]) {
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content: [...content] });
  }
  return turns;
}

describe('a conversation', () => {
  it('in the Messages wire comes back from the form of the kernel', () => {
    fc.assert(
      fc.property(exchanges, (history) => {
        const sent = inMessages(history);
        const edits = new Set<string>();
        const written = promptInMessages(readMessages(sent).messages, [], edits);
        expect(turnsOf(JSON.parse(written.messages) as object[])).toEqual(turnsOf(sent));
        expect([...edits]).toEqual([]);
      }),
    );
  });

  it('of Chat is the same when it is written as Messages and read again', () => {
    fc.assert(
      fc.property(exchanges, (history) => {
        const body = JSON.stringify({ model: 'a/b', messages: inChat(history) });
        const { messages } = readChatText(body).request;
        const written = promptInMessages(messages, [], new Set());
        const again = readMessages(JSON.parse(written.messages) as object[]).messages;
        const merged = (all: readonly ChatMessage[]) => {
          const list = all.map(kept);
          // Questions without an answer between them are one turn.
          return list.reduce<ReturnType<typeof kept>[]>((done, next) => {
            const last = done.at(-1);
            if (last?.role === 'user' && next.role === 'user') last.text += next.text;
            else done.push({ ...next });
            return done;
          }, []);
        };
        expect(merged(again)).toEqual(merged(messages));
      }),
    );
  });
});
