import { describe, expect, it } from '@jest/globals';
import type { GenerationContent } from '../../api/generations';
import { threadOf } from './thread';

const call = (id: string, name: string) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: '{}' },
});
const contentOf = (messages: readonly object[], output: object = {}): GenerationContent =>
  ({
    input: { messages },
    output: { completion: null, reasoning: null, ...output },
    error: null,
    is_truncated: false,
  }) as GenerationContent;

describe('the thread of a stored chat', () => {
  it('shows results beside their calls, whose ids may come again', () => {
    const asks = { role: 'assistant', content: null, tool_calls: [call('call_0', 'weather')] };
    const thread = threadOf(
      contentOf(
        [
          { role: 'user', content: 'Oslo?' },
          asks,
          { role: 'tool', tool_call_id: 'call_0', content: '12 degrees' },
          { ...asks, tool_calls: [call('call_0', 'time'), call('call_1', 'weather')] },
          { role: 'tool', tool_call_id: 'call_0', content: [{ type: 'text', text: 'noon' }] },
          { role: 'tool', tool_call_id: 'other', content: 'lost' },
        ],
        { completion: 'Done.', tool_calls: [call('call_2', 'end')] },
      ),
    );
    expect(thread.map(({ who, calls }) => [who, calls.map(({ result }) => result)])).toEqual([
      ['User', []],
      ['Assistant', ['12 degrees']],
      ['Assistant', ['noon', undefined]],
      ['Result of a tool', []],
      ['Answer', [undefined]],
    ]);
  });

  it('keeps the order of texts and images, and shows other parts as they are stored', () => {
    const [message] = threadOf(
      contentOf([
        {
          role: 'user',
          name: 'Ada',
          content: [
            { type: 'text', text: 'Describe this.' },
            { type: 'image_url', image_url: { url: 'https://images.example/a.png' } },
            { type: 'video_url', video_url: { url: 'https://images.example/a.mp4' } },
          ],
        },
      ]),
    );
    expect(message?.who).toBe('User, Ada');
    expect(message?.parts).toEqual([
      { kind: 'text', text: 'Describe this.' },
      { kind: 'image', text: 'https://images.example/a.png' },
      { kind: 'text', text: '{"type":"video_url","video_url":{"url":"https://images.example/a.mp4"}}' },
    ]);
  });
});
