// Turns in Gemini's wire, and the signatures in them; every body is checked by Google's rules (test/support/gemini/gemini-checks.ts).
import { describe, expect, it } from '@jest/globals';
import { builtGemini, geminiEndpoint, geminiWire } from '../../../../test/support/gemini/built-gemini.js';
import { PLACEHOLDER } from '../../../../test/support/gemini/gemini-checks.js';
import { readBody } from '../../../../test/support/chat-providers/send-chat.js';

const USER = { role: 'user', content: 'hi' };
const call = (id: string, text = '{}', more: object = {}): object => ({
  id,
  type: 'function',
  function: { name: `f_${id}`, arguments: text },
  ...more,
});
const called = (calls: readonly object[], more: object = {}): object => ({
  role: 'assistant',
  content: null,
  tool_calls: calls,
  ...more,
});
const result = (id: string, content: unknown = 'fine'): object => ({
  role: 'tool',
  tool_call_id: id,
  content,
});
const partsOf = ({ body }: { readonly body: Readonly<Record<string, unknown>> }, turn: number): object[] =>
  (body['contents'] as { parts: object[] }[])[turn]?.parts ?? [];

describe('turns', () => {
  it('alternate, with results first and in the order of their calls', async () => {
    const built = await builtGemini({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: 'Be kind.' },
        USER,
        { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
        { role: 'system', content: 'Mind the time.' },
        {
          role: 'assistant',
          content: 'I do.',
          tool_calls: [call('a', '{"n":12345678901234567890}'), call('b', '')],
        },
        result('b', '{"ok":true}'),
        result('a', 'one'),
        { role: 'user', content: 'Go on.' },
      ],
    });
    expect(built.body).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] },
      contents: [
        {
          role: 'user',
          parts: [{ text: 'hi' }, { text: 'Look.' }, { text: '<system>Mind the time.</system>' }],
        },
        {
          role: 'model',
          parts: [
            { text: 'I do.' },
            { functionCall: { id: 'a', name: 'f_a' }, thoughtSignature: PLACEHOLDER },
            { functionCall: { id: 'b', name: 'f_b', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'a', name: 'f_a', response: { output: 'one' } } },
            { functionResponse: { id: 'b', name: 'f_b', response: { ok: true } } },
            { text: 'Go on.' },
          ],
        },
      ],
    });
    expect(built.text).toContain('"args":{"n":12345678901234567890}');
    expect(built.edits).toEqual([]);
  });

  it.each([
    ['a list', '[1]', { output: '[1]' }],
    ['nothing', '', { output: '' }],
    ['an error', 'Error: no such file', { error: 'no such file' }],
  ])('have an object around a result that is %s', async (_form, content, response) => {
    const built = await builtGemini({ messages: [USER, called([call('a')]), result('a', content)] });
    expect(partsOf(built, 2)).toEqual([{ functionResponse: { id: 'a', name: 'f_a', response } }]);
  });

  it('carry media inline, and addresses where the endpoint takes them', async () => {
    const content = [
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
      { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,aGk=', filename: 'a.pdf' } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ];
    const supportedParameters = ['image_url'];
    const built = await builtGemini({ messages: [{ role: 'user', content }] }, { supportedParameters });
    expect(partsOf(built, 0)).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'aGk=' } },
      { inlineData: { mimeType: 'audio/wav', data: 'aGk=' } },
      { inlineData: { mimeType: 'application/pdf', data: 'aGk=' } },
      { fileData: { fileUri: 'https://example.com/a.png' } },
    ]);
    await expect(builtGemini({ messages: [{ role: 'user', content }] })).rejects.toThrow(
      'messages[0].content[3]',
    );
  });

  it('leave empty texts and empty turns out', async () => {
    const empty = { role: 'assistant', content: '' };
    const built = await builtGemini({ messages: [USER, empty, { role: 'user', content: 'So?' }] });
    expect(built.body['contents']).toEqual([{ role: 'user', parts: [{ text: 'hi' }, { text: 'So?' }] }]);
  });

  it.each([
    ['nothing but a system message', [{ role: 'system', content: 'x' }], 'messages'],
    ['an end that the model should continue', [USER, { role: 'assistant', content: 'One,' }], 'messages[1]'],
    ['a result without its call', [USER, result('a')], 'messages[1].tool_call_id'],
    [
      'a result of an earlier turn',
      [USER, called([call('a')]), result('a'), called([call('b')]), result('b'), result('a')],
      'messages[5].tool_call_id',
    ],
    [
      'two results of a call',
      [USER, called([call('a')]), result('a'), result('a')],
      'messages[3].tool_call_id',
    ],
    [
      'a call without a result',
      [USER, called([call('a'), call('b')]), result('a')],
      'messages[1].tool_calls[1].id',
    ],
    [
      'arguments that are no object',
      [USER, called([call('a', '[1]')]), result('a')],
      'messages[1].tool_calls[0].function.arguments',
    ],
  ])('are refused by name with %s', async (_case, messages, at) => {
    const request = readBody({ messages });
    const toCall = { request, endpoint: geminiEndpoint(), maxOutputTokens: null };
    await expect(
      (async () => geminiWire().buildRequest(toCall, { baseUrl: 'http://127.0.0.1:1' }))(),
    ).rejects.toThrow(`${at}: `);
  });
});

describe('signatures of thoughts', () => {
  const details = (...list: object[]) => ({ reasoning_details: list });
  const ofCall = (id: string, data: string) => ({
    type: 'reasoning.encrypted',
    format: 'google-gemini-v1',
    index: 0,
    id,
    data,
  });
  const ofText = {
    type: 'reasoning.text',
    format: 'google-gemini-v1',
    index: 1,
    text: '',
    signature: 'dGV4dA==',
  };
  const modelParts = async (message: object, upstreamModel = 'gemini-3-stub') => {
    const calls = (message as { tool_calls?: { id: string }[] }).tool_calls ?? [];
    const next = calls.length === 0 ? [USER] : calls.map(({ id }) => result(id));
    const built = await builtGemini({ messages: [USER, message, ...next] }, { upstreamModel });
    return { parts: partsOf(built, 1) as { text?: string; thoughtSignature?: string }[], edits: built.edits };
  };

  it('come back on the call that brought them, and on no other', async () => {
    const message = called([call('a'), call('b')], details(ofCall('a', 'c2ln')));
    const { parts, edits } = await modelParts(message);
    expect(parts.map(({ thoughtSignature }) => thoughtSignature)).toEqual(['c2ln', undefined]);
    expect(edits).toEqual([]);
  });

  it('come back from the member of the OpenAI-compatible route as well', async () => {
    const extra = { extra_content: { google: { thought_signature: 'c2ln' } } };
    const { parts } = await modelParts(called([call('a', '{}', extra)]));
    expect(parts[0]?.thoughtSignature).toBe('c2ln');
  });

  it.each([
    ['gemini-3-stub', PLACEHOLDER],
    ['gemini-2.5-stub', undefined],
  ])('become the placeholder on the first call where they are lost, at %s: %s', async (model, first) => {
    const { parts } = await modelParts(called([call('a'), call('b')]), model);
    expect(parts.map(({ thoughtSignature }) => thoughtSignature)).toEqual([first, undefined]);
  });

  it.each([
    ['the last text', 'Hello', [{ text: 'Hello', thoughtSignature: 'dGV4dA==' }]],
    ['an empty text where there is none', null, [{ text: '', thoughtSignature: 'dGV4dA==' }]],
  ])('of a text come back on %s', async (_place, content, expected) => {
    const { parts, edits } = await modelParts({ role: 'assistant', content, ...details(ofText) });
    expect([parts, edits]).toEqual([expected, []]);
  });

  it.each([
    [{ type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0, text: 'Hm.', signature: 'x' }],
    [{ type: 'reasoning.encrypted', format: 'openai-responses-v1', index: 0, data: 'x' }],
    [{ type: 'reasoning.text', index: 0, text: 'unsigned' }],
  ])('of other producers are lost, and recorded: %j', async (detail) => {
    const { parts, edits } = await modelParts({ role: 'assistant', content: 'ok', ...details(detail) });
    expect([parts, edits]).toEqual([[{ text: 'ok' }], ['messages.reasoning_details']]);
  });

  it('are not missed in the summaries of thoughts', async () => {
    const summary = { type: 'reasoning.text', format: 'google-gemini-v1', index: 0, text: 'Hm.' };
    const { edits } = await modelParts({ role: 'assistant', content: 'ok', ...details(summary) });
    expect(edits).toEqual([]);
  });
});
