import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import type { ChatChoice } from '../chat/chat-outcome.js';
import type { ChatMediaPart, ChatMessage } from '../chat/chat-request.js';
import { chatMessage, chatRequest } from '../../../test/support/requests/chat-request.js';
import { MAX_ROOM } from '../text/kept-text.js';
import { keepChat } from './chat-content.js';
import type { ChatContent } from './chat-content.js';
import { contentOfChat } from './generation-content.js';

const choice = (overrides: Partial<ChatChoice> = {}): ChatChoice => ({
  index: 0,
  content: null,
  reasoning: null,
  refusal: null,
  toolCalls: [],
  finishReason: 'stop',
  nativeFinishReason: 'stop',
  ...overrides,
});
const media = (overrides: Partial<ChatMediaPart>): ChatMediaPart => ({
  type: 'image',
  body: { image_url: { url: 'data:image/png;base64,c2VjcmV0' } },
  url: null,
  bytes: 48_213,
  mediaType: 'image/png',
  detail: null,
  ...overrides,
});
const user = (content: ChatMessage['content']): ChatMessage => chatMessage('user', content);
const messagesOf = (...messages: ChatMessage[]): ChatContent['messages'] =>
  keepChat(chatRequest(messages), []).content.messages;
const textsOf = ({ messages }: ChatContent): string[] =>
  messages.flatMap(({ content }) => (typeof content === 'string' ? [content] : []));
const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));

describe('the stored content of a chat that fits', () => {
  it('has the messages and answers in the form of the wire', () => {
    const call = { id: 'call_1', name: 'look_up', arguments: '{"q":"né 🙂"}' };
    const { content, isInputTruncated } = keepChat(
      chatRequest(
        [
          chatMessage('system', 'Be brief.'),
          chatMessage('user', 'Hi', { name: 'ada' }),
          chatMessage('assistant', null, { toolCalls: [call] }),
          chatMessage('tool', 'found', { toolCallId: 'call_1' }),
        ],
        {
          tools: [
            { name: 'look_up', body: { type: 'function', function: { name: 'look_up' }, cache_control: {} } },
          ],
          members: { stop: ['END'] },
          responseSchema: { type: 'object' },
        },
      ),
      [choice({ content: 'Yes.', reasoning: 'Well', toolCalls: [call] })],
    );
    expect(content).toEqual({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi', name: 'ada' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"q":"né 🙂"}' } },
          ],
        },
        { role: 'tool', content: 'found', tool_call_id: 'call_1' },
      ],
      tools: [{ type: 'function', function: { name: 'look_up' } }],
      stop: ['END'],
      responseSchema: { type: 'object' },
      choices: [choice({ content: 'Yes.', reasoning: 'Well', toolCalls: [call] })],
      isOutputTruncated: false,
    });
    expect(isInputTruncated).toBe(false);
  });

  it.each<[string, Partial<ChatMediaPart>, object]>([
    ['an image', {}, { type: 'text', text: '[image/png, 48213 bytes]' }],
    [
      'audio',
      { type: 'audio', mediaType: null, detail: 'wav', bytes: 7 },
      { type: 'text', text: '[audio/wav, 7 bytes]' },
    ],
    ['a file', { type: 'file', mediaType: null, bytes: 9 }, { type: 'text', text: '[file, 9 bytes]' }],
    [
      'a public image',
      { url: 'https://example.com/a.png', bytes: 0 },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ],
    [
      'a public video',
      { type: 'video', url: 'https://example.com/a.mp4', bytes: 0 },
      { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } },
    ],
    [
      'an address that is too long',
      { url: `https://example.com/${'a'.repeat(3_000)}` },
      { type: 'text', text: '[image/png, an address of 3020 characters]' },
    ],
  ])('has words instead of the data of %s', (_name, part, expected) => {
    const [message] = messagesOf(user([{ type: 'text', text: 'Look' }, media(part)]));
    expect(message?.content).toEqual([{ type: 'text', text: 'Look' }, expected]);
  });

  it('is well-formed', () => {
    expect(messagesOf(user('half \ud800'))).toEqual([{ role: 'user', content: 'half �' }]);
  });
});

describe('the stored content of a chat that is too long', () => {
  it('has its short texts whole, and the beginnings of the longest', () => {
    const long = [1, 2].map((digit) => String(digit).repeat(MAX_ROOM));
    const { content, isInputTruncated } = keepChat(
      chatRequest([chatMessage('system', 'Be brief.'), ...long.map(user), user('The question')]),
      [choice({ content: 'short' }), choice({ index: 1, content: '🙂'.repeat(MAX_ROOM) })],
    );
    expect(isInputTruncated).toBe(true);
    expect(content.isOutputTruncated).toBe(true);
    const [system, first = '', second = '', question] = textsOf(content);
    expect([system, question]).toEqual(['Be brief.', 'The question']);
    expect(long[0]!.startsWith(first)).toBe(true);
    expect(first.length).toBe(second.length);
    expect(first.length).toBeGreaterThan(MAX_ROOM * 0.45);
    expect(content.choices.map(({ content: text }) => text?.slice(-2))).toEqual(['rt', '🙂']);
    expect(bytesOf(content.messages)).toBeLessThanOrEqual(MAX_ROOM);
    expect(bytesOf(content.choices)).toBeLessThanOrEqual(MAX_ROOM);
  });

  it('has the first and the last of too many messages', () => {
    const { content, isInputTruncated } = keepChat(
      chatRequest(Array.from({ length: 100_000 }, (_value, index) => user(String(index)))),
      [],
    );
    expect(isInputTruncated).toBe(true);
    expect(textsOf(content)[0]).toBe('0');
    expect(textsOf(content).at(-1)).toBe('99999');
    expect(bytesOf(content.messages)).toBeLessThanOrEqual(MAX_ROOM);
  });

  it('has the names of tools whose definitions do not fit', () => {
    const tool = (name: string, description: string) => ({
      name,
      body: { type: 'function', function: { name, description } },
    });
    const request = chatRequest([user('x')], {
      tools: [tool('one', 'fits'), tool('two', 'd'.repeat(MAX_ROOM)), tool('three', 'fits')],
    });
    const { content, isInputTruncated } = keepChat(request, []);
    expect(isInputTruncated).toBe(true);
    expect(content.tools).toEqual([
      { type: 'function', function: { name: 'one', description: 'fits' } },
      { type: 'function', function: { name: 'two' } },
      { type: 'function', function: { name: 'three', description: 'fits' } },
    ]);
  });

  it('stays within the bound, with any sizes of any parts', () => {
    const length = fc.oneof(fc.nat({ max: 50 }), fc.nat({ max: 200_000 }));
    const text = fc
      .record({ length, unit: fc.constantFrom('a', 'é', '🙂') })
      .map((of) => of.unit.repeat(of.length));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), fc.array(text, { maxLength: 4 }), (texts, more) => {
        const call = (value: string) => ({ id: 'i', name: 'n', arguments: value });
        const { content, isInputTruncated } = keepChat(
          chatRequest([
            ...texts.map(user),
            user(more.map((value) => ({ type: 'text', text: value }))),
            chatMessage('assistant', null, { toolCalls: more.map(call) }),
          ]),
          [choice({ content: texts.join(''), toolCalls: more.map(call) })],
        );
        expect(bytesOf(content.messages)).toBeLessThanOrEqual(MAX_ROOM);
        expect(bytesOf(content.choices)).toBeLessThanOrEqual(MAX_ROOM);
        const isWhole = JSON.stringify(textsOf(content)) === JSON.stringify(texts);
        expect(isWhole || isInputTruncated).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

describe('the content of a chat beside the log', () => {
  it('has no items of embeddings, and the error text', () => {
    const content = contentOfChat(chatRequest([user('Hi')]), [], 'It failed');
    expect(content).toMatchObject({ items: [], isTruncated: false, errorMessage: 'It failed' });
    expect(content.chat?.messages).toEqual([{ role: 'user', content: 'Hi' }]);
  });
});
