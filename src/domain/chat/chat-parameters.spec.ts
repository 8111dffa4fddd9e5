import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../test/support/requests/chat-request.js';
import { chatParameters } from './chat-parameters.js';

describe('the recorded parameters of a chat request', () => {
  it('are its numbers, flags and known words', () => {
    const request = chatRequest([], {
      members: { temperature: 0.2, parallel_tool_calls: false, verbosity: 'low', n: 2 },
      maxOutputTokens: 500,
      reasoning: { effort: 'high', maxTokens: null, isExcluded: false, isEnabled: true },
      toolChoice: { functionName: 'secret_tool' },
      tools: [{ name: 'secret_tool', body: {} }],
      responseFormat: 'json_schema',
      responseSchema: { title: 'secret' },
    });
    expect(chatParameters(request)).toEqual({
      temperature: 0.2,
      parallel_tool_calls: false,
      verbosity: 'low',
      n: 2,
      max_tokens: 500,
      reasoning_effort: 'high',
      tool_choice: 'function',
      tool_count: 1,
      response_format: 'json_schema',
    });
  });

  it('keep every digit of a seed', () => {
    const request = chatRequest([]);
    const members = new Map([['seed', Buffer.from('9223372036854775807')]]);
    expect(chatParameters({ ...request, members })).toEqual({ seed: '9223372036854775807' });
  });

  it('have no text of the caller, and no number of a thousand digits', () => {
    const members = { stop: ['secret'], user: 'secret', verbosity: 'Secret words', logit_bias: { 1: 2 } };
    const request = chatRequest([], { members });
    const digits = new Map([...request.members, ['seed', Buffer.from('1'.repeat(1_000))]]);
    expect(chatParameters({ ...request, members: digits })).toBeNull();
  });
});
