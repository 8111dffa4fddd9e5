import { describe, expect, it } from '@jest/globals';
import { addChunk, EMPTY_ANSWER } from './chat-answer';
import type { ChatChunk } from './chat-answer';

const delta = (members: object, finish: string | null = null): ChatChunk => ({
  model: 'openai/gpt-4.1-mini',
  provider: 'OpenAI',
  choices: [{ index: 0, delta: members, finish_reason: finish }],
});
const assemble = (...chunks: readonly ChatChunk[]) =>
  chunks.reduce((answer, chunk, index) => addChunk(answer, chunk, (index + 1) * 10), EMPTY_ANSWER);

describe('the answer of a chat', () => {
  it('joins texts and reasoning, and keeps the time of the first content', () => {
    const answer = assemble(
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning: 'thin' }),
      delta({ reasoning: 'king', content: null }),
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }),
      delta({}, 'stop'),
    );
    expect(answer).toMatchObject({
      text: 'Hello',
      reasoning: 'thinking',
      finishReason: 'stop',
      firstContent: 20,
      model: 'openai/gpt-4.1-mini',
      provider: 'OpenAI',
    });
  });

  it('joins the fragments of each tool call by its index', () => {
    const answer = assemble(
      delta({ tool_calls: [{ index: 0, id: 'call_a', function: { name: 'weather', arguments: '' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
      delta({ tool_calls: [{ index: 1, id: 'call_b', function: { name: 'time', arguments: '{}' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }),
      delta({}, 'tool_calls'),
    );
    expect(answer.toolCalls).toEqual([
      { id: 'call_a', name: 'weather', arguments: '{"city":"Oslo"}' },
      { id: 'call_b', name: 'time', arguments: '{}' },
    ]);
    expect(answer.text).toBe('');
  });

  it('shows a refusal as text, and reads the first choice alone', () => {
    const second: ChatChunk = { choices: [{ index: 1, delta: { content: 'other' }, finish_reason: 'stop' }] };
    const answer = assemble(delta({ refusal: 'I cannot do that.' }), second);
    expect(answer).toMatchObject({ text: 'I cannot do that.', finishReason: null });
  });

  it('keeps the text before a failure in the middle', () => {
    const answer = assemble(delta({ content: 'Hel' }), {
      ...delta({ content: '' }, 'error'),
      error: { message: 'Provider returned error: out of order' },
    });
    expect(answer).toMatchObject({
      text: 'Hel',
      finishReason: 'error',
      failure: 'Provider returned error: out of order',
    });
  });
});
