import { describe, expect, it } from '@jest/globals';
import { openCalls, withoutImageData } from './turns';
import type { AnswerTurn, Turn } from './turns';
import { EMPTY_ANSWER } from './chat-answer';
import type { ChatCall, WireName } from './chat-wire';
import { WIRES } from './wires';

const CALL = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' };
const IMAGE = { name: 'a.png', url: 'data:image/png;base64,AAAA' };
const answer = (
  members: Partial<AnswerTurn['answer']>,
  outcome: AnswerTurn['outcome'] = 'finished',
  wire: WireName = 'chat',
): AnswerTurn => ({ kind: 'answer', wire, answer: { ...EMPTY_ANSWER, ...members }, outcome, error: null });
const user = (text: string, images: readonly (typeof IMAGE)[] = []): Turn => ({ kind: 'user', text, images });

/** As it is sent: undefined members are not. */
function sentBody(wire: WireName, turns: readonly Turn[], members: Partial<ChatCall> = {}): object {
  const call: ChatCall = {
    model: 'm',
    system: ' ',
    temperature: undefined,
    maxTokens: undefined,
    effort: undefined,
    tools: undefined,
    ...members,
    turns,
  };
  return JSON.parse(JSON.stringify(WIRES[wire].bodyOf(call))) as object;
}

describe('the body of a call', () => {
  it('has the settings in the members of each API', () => {
    const settings = { system: 'Be brief.', temperature: 0.5, maxTokens: 100, effort: 'low' } as const;
    const turns = [user('a')];
    expect(sentBody('chat', turns, settings)).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'a' },
      ],
      temperature: 0.5,
      max_tokens: 100,
      reasoning_effort: 'low',
      stream: true,
    });
    expect(sentBody('messages', turns, settings)).toEqual({
      model: 'm',
      system: 'Be brief.',
      messages: [{ role: 'user', content: 'a' }],
      temperature: 0.5,
      max_tokens: 100,
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'low' },
      stream: true,
    });
    expect(sentBody('responses', turns, settings)).toEqual({
      model: 'm',
      instructions: 'Be brief.',
      input: [{ type: 'message', role: 'user', content: 'a' }],
      temperature: 0.5,
      max_output_tokens: 100,
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      stream: true,
    });
  });

  it('has the members alone that are set, and the limit that Messages needs', () => {
    const turns = [user('a')];
    const message = { role: 'user', content: 'a' };
    expect(sentBody('chat', turns)).toEqual({ model: 'm', messages: [message], stream: true });
    expect(sentBody('messages', turns)).toEqual({
      model: 'm',
      max_tokens: 4096,
      messages: [message],
      stream: true,
    });
    expect(sentBody('responses', turns)).toEqual({
      model: 'm',
      input: [{ type: 'message', ...message }],
      stream: true,
    });
  });

  it('has images in the form of each API, and a sample the place of their data alone', () => {
    const turns = [user('Describe this.', [IMAGE])];
    expect(sentBody('chat', turns)).toMatchObject({
      messages: [
        {
          content: [
            { type: 'text', text: 'Describe this.' },
            { type: 'image_url', image_url: { url: IMAGE.url } },
          ],
        },
      ],
    });
    expect(sentBody('messages', turns)).toMatchObject({
      messages: [
        {
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            { type: 'text', text: 'Describe this.' },
          ],
        },
      ],
    });
    expect(sentBody('responses', turns)).toMatchObject({
      input: [
        {
          content: [
            { type: 'input_text', text: 'Describe this.' },
            { type: 'input_image', image_url: IMAGE.url },
          ],
        },
      ],
    });
    for (const wire of ['chat', 'messages', 'responses'] as const)
      expect(JSON.stringify(sentBody(wire, withoutImageData(turns)))).toContain('YOUR_IMAGE"');
  });

  it('pairs each call of a tool with its result', () => {
    const turns = [
      answer({ toolCalls: [CALL] }),
      { kind: 'tools', results: [{ callId: 'call_1', text: 'sunny' }] },
    ] as const;
    expect(sentBody('chat', turns)).toMatchObject({
      messages: [
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      ],
    });
    expect(sentBody('messages', turns)).toMatchObject({
      messages: [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Oslo' } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'sunny' }] },
      ],
    });
    expect(sentBody('responses', turns)).toMatchObject({
      input: [
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
      ],
    });
  });

  it('returns the parts of an answer to the API that gave them', () => {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'sig' };
    const turn = answer(
      { text: 'Hi', parts: [thought, { type: 'text', text: 'Hi' }] },
      'finished',
      'messages',
    );
    expect(sentBody('messages', [turn])).toMatchObject({
      messages: [{ role: 'assistant', content: [thought, { type: 'text', text: 'Hi' }] }],
    });
    expect(sentBody('chat', [turn])).toMatchObject({ messages: [{ role: 'assistant', content: 'Hi' }] });
    const item = { type: 'reasoning', encrypted_content: 'sealed' };
    const open = { type: 'reasoning', encrypted_content: null };
    expect(sentBody('responses', [answer({ parts: [item, open] }, 'finished', 'responses')])).toMatchObject({
      input: [item],
    });
    const detail = { type: 'reasoning.text', text: 'Hm.', signature: 'sig' };
    expect(sentBody('chat', [answer({ text: 'Hi', parts: [detail] })])).toMatchObject({
      messages: [{ role: 'assistant', content: 'Hi', reasoning_details: [detail] }],
    });
  });

  it('has tools of any of the three forms in the form of its API', () => {
    const described = { name: 'f', description: 'd' };
    const parameters = { type: 'object' };
    const tools = [
      { type: 'function', function: { ...described, parameters } },
      { ...described, input_schema: parameters },
      { type: 'function', ...described, parameters },
      { type: 'web_search' },
    ];
    const chat = { type: 'function', function: { ...described, parameters } };
    const messages = { ...described, input_schema: parameters };
    const responses = { type: 'function', ...described, parameters };
    for (const [wire, form] of [
      ['chat', chat],
      ['messages', messages],
      ['responses', responses],
    ] as const)
      expect(sentBody(wire, [], { tools })).toMatchObject({
        tools: [form, form, form, { type: 'web_search' }],
      });
  });

  it('keeps the text of an answer that was stopped, without its calls', () => {
    const stopped = answer({ text: 'Let me', toolCalls: [{ ...CALL, arguments: '{"ci' }] }, 'stopped');
    expect(sentBody('chat', [stopped])).toMatchObject({
      messages: [{ role: 'assistant', content: 'Let me' }],
    });
    expect(openCalls(stopped)).toEqual([]);
  });

  it.each(['chat', 'messages'] as const)('leaves out an answer without any content, %s', (wire) => {
    expect(sentBody(wire, [answer({}, 'stopped')])).toMatchObject({ messages: [] });
  });
});
