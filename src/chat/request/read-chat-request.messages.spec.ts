// How the messages of a chat body are read (docs/contract.md#chat-messages).
import { describe, expect, it } from '@jest/globals';
import { chatProblem, readChat } from '../../../test/support/chat/read-chat.js';

const messageProblem = (message: unknown): string => chatProblem({ messages: [message] });
const partProblem = (part: unknown): string => messageProblem({ role: 'user', content: [part] });

describe('messages', () => {
  it('are a list of at least one', () => {
    expect(chatProblem({ messages: undefined })).toBe('messages: is required');
    expect(chatProblem({ messages: [] })).toBe('messages: must have at least 1 element');
    expect(chatProblem({ messages: ['hi'] })).toBe('messages[0]: must be an object');
  });

  it('have a known role, and the content of that role', () => {
    expect(messageProblem({ role: 'robot', content: 'x' })).toMatch(/^messages\[0\]\.role: must be one of/);
    expect(messageProblem({ role: 'user' })).toBe('messages[0].content: is required');
    expect(messageProblem({ role: 'user', content: null })).toMatch(/content/);
    expect(messageProblem({ role: 'assistant', content: null })).toBe('accepted');
    expect(messageProblem({ role: 'tool', content: 'x' })).toBe('messages[0].tool_call_id: is required');
    const image = { type: 'image_url', image_url: { url: 'https://a.example/x.png' } };
    expect(messageProblem({ role: 'system', content: [image] })).toBe(
      'messages[0].content[0].type: must be text in this role',
    );
  });

  it('keep unknown members, such as signatures of thoughts', () => {
    const message = {
      role: 'assistant',
      content: 'x',
      extra_content: { google: { thought_signature: 'y' } },
    };
    expect(readChat({ messages: [message] }).request.messages[0]?.body).toEqual(message);
  });

  it('have the tool calls of their assistant', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const chat = readChat({ messages: [{ role: 'assistant', content: null, tool_calls: [call] }] });
    expect(chat.request.messages[0]?.toolCalls).toEqual([{ id: 'call_1', name: 'f', arguments: '{}' }]);
    expect(
      messageProblem({ role: 'assistant', content: null, tool_calls: [{ ...call, id: undefined }] }),
    ).toBe('messages[0].tool_calls[0].id: is required');
  });

  it('have parts whose price has a bound', () => {
    expect(partProblem({ type: 'refusal', refusal: 'I cannot.' })).toMatch(
      /^messages\[0\]\.content\[0\]\.type: /,
    );
    expect(messageProblem({ role: 'assistant', content: [{ type: 'refusal', refusal: 'I cannot.' }] })).toBe(
      'accepted',
    );
    expect(partProblem({ type: 'hologram' })).toMatch(/^messages\[0\]\.content\[0\]\.type: /);
    expect(partProblem({ type: 'image_url', image_url: { url: 'http://169.254.169.254/latest' } })).toMatch(
      /image_url\.url: must be an https: URL, or a data: URL/,
    );
    expect(partProblem({ type: 'image_url', image_url: { url: 'data:text/html;base64,AAAA' } })).toMatch(
      /must be the data of an image/,
    );
    expect(partProblem({ type: 'file', file: { file_id: 'file-1' } })).toMatch(/file\.file_id: /);
    expect(partProblem({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'midi' } })).toMatch(
      /format/,
    );
    expect(partProblem({ type: 'video_url', video_url: { url: 'https://a.example/v.mp4' } })).toBe(
      'accepted',
    );
  });

  it('know the size and the type of inline data', () => {
    const url = `data:image/png;base64,${'A'.repeat(400)}`;
    const part = { type: 'image_url', image_url: { url, detail: 'low' } };
    const chat = readChat({ messages: [{ role: 'user', content: [part] }] });
    expect(chat.request.messages[0]?.content).toEqual([
      { type: 'image', body: part, url: null, bytes: 300, mediaType: 'image/png', detail: 'low' },
    ]);
  });
});
