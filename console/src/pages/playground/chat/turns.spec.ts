import { describe, expect, it } from '@jest/globals';
import { EMPTY_ANSWER } from '../../../api/chat-answer';
import { messagesOf, openCalls, withoutImageData } from './turns';
import type { AnswerTurn } from './turns';

const CALL = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' };
const answer = (
  members: Partial<AnswerTurn['answer']>,
  outcome: AnswerTurn['outcome'] = 'finished',
): AnswerTurn => ({
  kind: 'answer',
  answer: { ...EMPTY_ANSWER, ...members },
  outcome,
  error: null,
});

describe('the messages of a conversation', () => {
  it('begin with the system message, if there is one', () => {
    expect(messagesOf(' ', [{ kind: 'user', text: 'a', images: [] }])).toEqual([
      { role: 'user', content: 'a' },
    ]);
    expect(messagesOf('Be brief.', [])).toEqual([{ role: 'system', content: 'Be brief.' }]);
  });

  it('pair each call of a tool with its result', () => {
    const turns = [
      answer({ toolCalls: [CALL] }),
      { kind: 'tools', results: [{ callId: 'call_1', text: 'sunny' }] },
    ] as const;
    expect(messagesOf('', turns)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
    ]);
  });

  it('carry images after the text, and a sample the place of their data alone', () => {
    const image = { name: 'a.png', url: 'data:image/png;base64,AAAA' };
    const turns = [{ kind: 'user', text: 'Describe this.', images: [image] }] as const;
    const part = (url: string) => ({ type: 'image_url', image_url: { url } });
    expect(messagesOf('', turns)).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Describe this.' }, part(image.url)] },
    ]);
    expect(messagesOf('', [{ ...turns[0], text: '' }])).toEqual([
      { role: 'user', content: [part(image.url)] },
    ]);
    expect(JSON.stringify(messagesOf('', withoutImageData(turns)))).toContain(
      'data:image/png;base64,YOUR_IMAGE',
    );
  });

  it('keep the text of an answer that was stopped, without its calls', () => {
    const stopped = answer({ text: 'Let me', toolCalls: [{ ...CALL, arguments: '{"ci' }] }, 'stopped');
    expect(messagesOf('', [stopped])).toEqual([{ role: 'assistant', content: 'Let me' }]);
    expect(openCalls(stopped)).toEqual([]);
  });

  it('leave out an answer without any content', () => {
    expect(messagesOf('', [answer({}, 'stopped')])).toEqual([]);
  });
});
