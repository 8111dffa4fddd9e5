// Bodies of the Responses wire in the kernel's form.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../../test/support/fast-check.js';
import type { ChatRequest } from '../../../domain/chat/chat-request.js';
import { AppError } from '../../../domain/errors.js';
import { readResponsesRequest } from './read-responses-request.js';

function read(members: object): ChatRequest {
  const body = { model: 'vendor/model', input: 'hi', ...members };
  return readResponsesRequest(body, Buffer.from(JSON.stringify(body))).request;
}

const refusal = (members: object): string => {
  try {
    read(members);
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
};
const tool = (name: string, type = 'function') => ({ type, name, parameters: { type: 'object' } });
const namesOf = ({ tools }: ChatRequest): string[] => tools.map(({ name }) => name);

describe('names of tools', () => {
  it('above 64 characters end with a hash, the same for a call of an earlier turn', () => {
    const namespace = 'n'.repeat(40);
    const names = ['a', 'b'].map((end) => 't'.repeat(39) + end);
    const request = read({
      tools: [
        { type: 'namespace', name: namespace, description: '', tools: names.map((name) => tool(name)) },
      ],
      input: [
        { type: 'function_call', call_id: 'c', namespace, name: names[1], arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'ok' },
      ],
    });
    const [first, second] = namesOf(request);
    expect([first?.length, second?.length, first === second]).toEqual([64, 64, false]);
    expect(request.messages[0]?.toolCalls[0]?.name).toBe(second);
    expect(request.native?.responses?.tools.get(second!)).toEqual({
      type: 'function',
      namespace,
      name: names[1],
    });
  });

  it('are refused where two tools would share one', () => {
    const inner = { type: 'namespace', name: 'a', description: '', tools: [tool('b')] };
    expect(refusal({ tools: [tool('a__b'), inner] })).toContain('tools[1].tools[0].name');
  });
});

describe('the choice of a tool', () => {
  it('among allowed ones leaves the others out', () => {
    const request = read({
      tools: [tool('a'), tool('b', 'custom'), tool('c')],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'required',
        tools: [tool('c'), { type: 'custom', name: 'b' }, { type: 'web_search' }],
      },
    });
    expect(namesOf(request)).toEqual(['b', 'c']);
    expect(request.toolChoice).toEqual({ mode: 'required' });
  });

  it.each(['any', 7, { type: 'mcp' }, { type: 'allowed_tools', mode: 'none', tools: [] }])(
    'of another form is refused: %j',
    (choice) => expect(refusal({ tools: [tool('a')], tool_choice: choice })).toContain('tool_choice'),
  );
});

describe('settings', () => {
  it('keep their digits, and have the names of Chat', () => {
    const body =
      '{"model":"m","input":"hi","temperature":0.70,"text":{"verbosity":"low","format":{"type":"json_object"}}}';
    const { members, responseFormat } = readResponsesRequest(
      JSON.parse(body) as Record<string, unknown>,
      Buffer.from(body),
    ).request;
    expect(Object.fromEntries([...members].map(([name, value]) => [name, value.toString()]))).toEqual({
      temperature: '0.70',
      verbosity: '"low"',
      response_format: '{"type":"json_object"}',
    });
    expect(responseFormat).toBe('json_object');
  });

  it('without a form in any endpoint are named', () => {
    const request = read({ top_logprobs: 2, max_tool_calls: 3, new_member: 1, client_metadata: { a: 'b' } });
    expect(request.native?.unshared).toEqual(['top_logprobs', 'max_tool_calls', 'new_member']);
  });

  it('are repeated in the answer as they came, but for long ones', () => {
    const { echo } = read({ instructions: 'x'.repeat(70_000), temperature: 0.5, tools: [tool('a')] }).native!
      .responses!;
    expect(JSON.parse(`{${echo.toString()}}`)).toMatchObject({
      instructions: null,
      temperature: 0.5,
      tools: [{ name: 'a' }],
      tool_choice: 'auto',
      store: false,
    });
  });
});

describe('any items', () => {
  it('become messages of Chat, each result behind its call, or are refused by name', () => {
    const id = fc.constantFrom('c1', 'c2', 'c3');
    const item = fc.oneof(
      fc.record({ role: fc.constantFrom('user', 'assistant', 'system', 'developer'), content: fc.string() }),
      fc.record({
        type: fc.constant('reasoning'),
        summary: fc.constant([{ type: 'summary_text', text: 'Hm.' }]),
      }),
      fc.record({
        type: fc.constant('function_call'),
        call_id: id,
        name: fc.constant('a'),
        arguments: fc.constant('{}'),
      }),
      fc.record({
        type: fc.constant('custom_tool_call'),
        call_id: id,
        name: fc.constant('b'),
        input: fc.string(),
      }),
      fc.record({ type: fc.constant('function_call_output'), call_id: id, output: fc.string() }),
    );
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 12 }), (input) => {
        let messages: ChatRequest['messages'];
        try {
          ({ messages } = read({ input }));
        } catch (error) {
          expect((error as AppError).member).toMatch(/^input\[\d+\]\./);
          return;
        }
        const open: string[] = [];
        for (const { role, toolCalls, toolCallId } of messages) {
          if (role === 'tool') expect(toolCallId).toBe(open.shift());
          else expect(open).toEqual([]);
          open.push(...toolCalls.map((call) => call.id));
        }
        expect(open).toEqual([]);
      }),
    );
  });
});
