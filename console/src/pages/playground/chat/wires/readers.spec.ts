import { describe, expect, it } from '@jest/globals';
import { WIRE_NAMES } from './chat-wire';
import type { WireName } from './chat-wire';
import { WIRES } from './wires';

type Event = Readonly<Record<string, unknown>>;

const delta = (members: object, finish: string | null = null): Event => ({
  model: 'openai/gpt-4.1-mini',
  provider: 'OpenAI',
  choices: [{ index: 0, delta: members, finish_reason: finish }],
});

/** Reads events to the last one. */
function read(wire: WireName, events: readonly (Event | string)[]) {
  const reader = WIRES[wire].newReader();
  const ends = events.map((event) => reader.read(typeof event === 'string' ? event : JSON.stringify(event)));
  return {
    answer: reader.answer,
    isEnded: ends.at(-1) ?? false,
    isEndedEarly: ends.slice(0, -1).some(Boolean),
  };
}

const CHAT_EVENTS = [
  delta({ role: 'assistant', content: '' }),
  delta({ reasoning: 'thin', reasoning_details: [{ index: 0, text: 'thin' }] }),
  delta({ reasoning: 'king', content: null, reasoning_details: [{ index: 0, text: 'king' }] }),
  delta({ content: 'Hel' }),
  delta({ content: 'lo' }),
  delta({ tool_calls: [{ index: 0, id: 'call_a', function: { name: 'weather', arguments: '' } }] }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }),
  delta({}, 'tool_calls'),
  {
    choices: [],
    usage: {
      prompt_tokens: 100,
      prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
      completion_tokens: 12,
      completion_tokens_details: { reasoning_tokens: 5 },
      cost: 0.25,
      is_byok: false,
    },
  },
  '[DONE]',
];

const MESSAGES_EVENTS = [
  {
    type: 'message_start',
    message: { model: 'openai/gpt-4.1-mini', usage: { input_tokens: 99, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'thin' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'king' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'ping' },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: 'Hel' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'lo' } },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'tool_use', id: 'call_a', name: 'weather', input: {} },
  },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"city":' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '"Oslo"}' } },
  { type: 'content_block_stop', index: 2 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use' },
    usage: {
      input_tokens: 50,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 20,
      output_tokens: 12,
      output_tokens_details: { thinking_tokens: 5 },
      cost: 0.25,
      is_byok: false,
    },
  },
  { type: 'message_stop' },
];

const CALL_ITEM = { type: 'function_call', call_id: 'call_a', name: 'weather', arguments: '{"city":"Oslo"}' };
const THOUGHT_ITEM = { type: 'reasoning', id: 'rs_1', encrypted_content: 'sealed' };
const RESPONSES_EVENTS = [
  { type: 'response.created', response: { model: 'openai/gpt-4.1-mini', provider: 'OpenAI' } },
  { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning' } },
  { type: 'response.reasoning_summary_part.added', output_index: 0 },
  { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'thin' },
  { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'king' },
  { type: 'response.output_item.done', output_index: 0, item: THOUGHT_ITEM },
  { type: 'response.output_item.added', output_index: 1, item: { type: 'message' } },
  { type: 'response.output_text.delta', output_index: 1, delta: 'Hel' },
  { type: 'response.output_text.delta', output_index: 1, delta: 'lo' },
  { type: 'response.output_item.done', output_index: 1, item: { type: 'message', id: 'msg_1' } },
  { type: 'response.output_item.added', output_index: 2, item: { ...CALL_ITEM, arguments: '' } },
  { type: 'response.function_call_arguments.delta', output_index: 2, delta: '{"city":' },
  { type: 'response.function_call_arguments.delta', output_index: 2, delta: '"Oslo"}' },
  { type: 'response.output_item.done', output_index: 2, item: CALL_ITEM },
  {
    type: 'response.completed',
    response: {
      model: 'openai/gpt-4.1-mini',
      provider: 'OpenAI',
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
        output_tokens: 12,
        output_tokens_details: { reasoning_tokens: 5 },
        cost: 0.25,
        is_byok: false,
      },
    },
  },
];

const EVENTS = { chat: CHAT_EVENTS, messages: MESSAGES_EVENTS, responses: RESPONSES_EVENTS } as const;

describe.each(WIRE_NAMES)('the reader of %s', (wire) => {
  it('shows thoughts, text, calls of tools and usage alike', () => {
    const { answer, isEnded, isEndedEarly } = read(wire, EVENTS[wire]);
    expect([isEnded, isEndedEarly]).toEqual([true, false]);
    expect(answer).toMatchObject({
      text: 'Hello',
      reasoning: 'thinking',
      toolCalls: [{ id: 'call_a', name: 'weather', arguments: '{"city":"Oslo"}' }],
      finishReason: 'tool_calls',
      model: 'openai/gpt-4.1-mini',
      failure: null,
      usage: {
        prompt: 100,
        cached: 30,
        written: 20,
        completion: 12,
        reasoning: 5,
        cost: 0.25,
        isByok: false,
      },
    });
  });
});

describe('the reader of Chat', () => {
  it('joins the fragments of parallel tool calls by their index', () => {
    const { answer } = read('chat', [
      delta({ tool_calls: [{ index: 0, id: 'call_a', function: { name: 'weather', arguments: '' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
      delta({ tool_calls: [{ index: 1, id: 'call_b', function: { name: 'time', arguments: '{}' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }),
    ]);
    expect(answer.toolCalls).toEqual([
      { id: 'call_a', name: 'weather', arguments: '{"city":"Oslo"}' },
      { id: 'call_b', name: 'time', arguments: '{}' },
    ]);
  });

  it('shows a refusal as text, and reads the first choice alone', () => {
    const second = { choices: [{ index: 1, delta: { content: 'other' }, finish_reason: 'stop' }] };
    const { answer } = read('chat', [delta({ refusal: 'I cannot do that.' }), second]);
    expect(answer).toMatchObject({ text: 'I cannot do that.', finishReason: null });
  });
});

describe.each([
  [
    'chat',
    [delta({ content: 'Hel' }), { ...delta({}, 'error'), error: { message: 'out of order' } }, '[DONE]'],
  ],
  [
    'messages',
    [
      ...MESSAGES_EVENTS.slice(0, 8),
      { type: 'error', error: { type: 'api_error', message: 'out of order' } },
    ],
  ],
  [
    'responses',
    [
      ...RESPONSES_EVENTS.slice(0, 8),
      { type: 'response.failed', response: { error: { message: 'out of order' } } },
    ],
  ],
] as const)('a failure in the middle of %s', (wire, events) => {
  it('ends the answer, and keeps its text', () => {
    const { answer, isEnded } = read(wire, events);
    expect(isEnded).toBe(true);
    expect(answer).toMatchObject({ text: 'Hel', failure: 'out of order' });
  });
});

it('separates the parts of a summary of Responses', () => {
  const part = { type: 'response.reasoning_summary_part.added', output_index: 0 };
  const text = (words: string) => ({ type: 'response.reasoning_summary_text.delta', delta: words });
  expect(read('responses', [part, text('One.'), part, text('Two.')]).answer.reasoning).toBe('One.\n\nTwo.');
});

it('names the limit of tokens as the end of an answer alike', () => {
  const messages = { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: {} };
  const incomplete = { incomplete_details: { reason: 'max_output_tokens' } };
  const responses = { type: 'response.incomplete', response: incomplete };
  expect(read('messages', [messages]).answer.finishReason).toBe('length');
  expect(read('responses', [responses]).answer.finishReason).toBe('length');
});

it('keeps the thoughts of Messages and Responses with their seals, for the next call', () => {
  expect(read('messages', MESSAGES_EVENTS).answer.parts).toEqual([
    { type: 'thinking', thinking: 'thinking', signature: 'sig' },
    { type: 'text', text: 'Hello' },
    { type: 'tool_use', id: 'call_a', name: 'weather', input: { city: 'Oslo' } },
  ]);
  expect(read('responses', RESPONSES_EVENTS).answer.parts).toEqual([
    THOUGHT_ITEM,
    { type: 'message', id: 'msg_1' },
    CALL_ITEM,
  ]);
});
