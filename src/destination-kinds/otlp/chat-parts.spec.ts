// The content of a chat in the parts of the conventions.
import { describe, expect, it } from '@jest/globals';
import { TOOLS_CHAT } from '../../../test/support/deliveries/chat-traces.js';
import { inputParts, olderInputParts, outputParts, toolParts } from './chat-parts.js';

const content = TOOLS_CHAT.chat!.content!;

describe('the definitions of tools', () => {
  it('have their members at the top', () => {
    expect(toolParts(content)).toEqual([
      {
        type: 'function',
        name: 'find_cats',
        description: 'Finds cats in a picture.',
        parameters: { type: 'object', properties: { colour: { type: 'string' } } },
      },
    ]);
  });

  it('omit members that the caller did not send', () => {
    const tools = [{ type: 'function', function: { name: 'now' } }];
    expect(JSON.stringify(toolParts({ ...content, tools }))).toBe('[{"type":"function","name":"now"}]');
  });
});

describe('the result of a tool', () => {
  const RESULT = { type: 'tool_call_response', id: 'call_1', response: '{"count":1}' };

  it('is a response', () => {
    expect(inputParts(content).at(-1)).toEqual({ role: 'tool', parts: [RESULT] });
  });

  it('has its older name as well for readers of it', () => {
    const part = { ...RESULT, result: RESULT.response };
    expect(olderInputParts(content).at(-1)).toEqual({ role: 'tool', parts: [part] });
  });
});

describe('an answer', () => {
  it('has a finish reason, even where it was not finished', () => {
    const [choice] = content.choices;
    const choices = [choice!, { ...choice!, finishReason: null }];
    expect(outputParts({ ...content, choices }, 'cancelled')).toMatchObject([
      { finish_reason: 'tool_calls' },
      { finish_reason: 'cancelled' },
    ]);
  });
});
