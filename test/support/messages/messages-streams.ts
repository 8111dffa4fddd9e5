// Streams in the Messages wire, with the peculiarities of the servers that speak it.
import type { UpstreamStream } from '../chat/upstream-streams.js';
import {
  blockDelta,
  blockStart,
  blockStop,
  messageDelta,
  messagesEvent,
  messageStart,
  MESSAGE_STOP,
  RICH_EVENTS,
  textBlock,
} from './messages-stub.js';

type Event = Readonly<Record<string, unknown>>;

const text = (events: readonly Event[]): string => events.map(messagesEvent).join('');
const ended = (...blocks: readonly Event[]): Event[] => [
  messageStart(),
  ...blocks,
  messageDelta('end_turn', { output_tokens: 7 }),
  MESSAGE_STOP,
];
const thinking = (index: number, ...texts: readonly string[]): Event[] =>
  texts.map((part) => blockDelta(index, { type: 'thinking_delta', thinking: part }));
const signed = (index: number, signature: string): Event =>
  blockDelta(index, { type: 'signature_delta', signature });
const startOfThought = (index: number): Event => blockStart(index, { type: 'thinking', thinking: '' });
const call = (index: number, id: string, input: object = {}): Event =>
  blockStart(index, { type: 'tool_use', id, name: 'look_up', input });

const BODIES: Readonly<Record<string, string | Buffer>> = {
  'a thought, a text and a call': text(RICH_EVENTS),
  'escapes and characters of several bytes': text(ended(...textBlock(0, 'é漢😀\n"', '\\u00e9 \u2028')))
    .replaceAll('é', '\\u00e9')
    .replace('😀', '\\ud83d\\ude00'),
  'several thoughts, one of them redacted, and one that is hidden': text(
    ended(
      startOfThought(0),
      ...thinking(0, 'One.'),
      signed(0, 'sig-1'),
      blockStop(0),
      blockStart(1, { type: 'redacted_thinking', data: 'opaque' }),
      blockStop(1),
      startOfThought(2),
      signed(2, 'sig-'),
      signed(2, '2'),
      blockStop(2),
      ...textBlock(3, 'ok'),
    ),
  ),
  'parallel calls, one without arguments, one with all of them at its start': text([
    messageStart(),
    call(0, 'toolu_1'),
    call(1, 'toolu_2'),
    blockDelta(1, { type: 'input_json_delta', partial_json: '{"b":' }),
    blockDelta(0, { type: 'input_json_delta', partial_json: '' }),
    blockDelta(1, { type: 'input_json_delta', partial_json: '2}' }),
    blockStop(1),
    blockStop(0),
    call(2, 'toolu_3', { c: [1, 'x'] }),
    blockStop(2),
    messageDelta('tool_use', { output_tokens: 9 }),
    MESSAGE_STOP,
  ]),
  'types without a reader, and the result of a tool of the provider': text(
    ended(
      { type: 'something_new', index: 7 },
      blockStart(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
      blockDelta(0, { type: 'input_json_delta', partial_json: '{"query":"x"}' }),
      blockStop(0),
      blockStart(1, { type: 'web_search_tool_result', content: [{ type: 'web_search_result' }] }),
      blockStop(1),
      blockStart(2, { type: 'text', text: '' }),
      blockDelta(2, { type: 'text_delta', text: 'ok' }),
      blockDelta(2, { type: 'citations_delta', citation: { cited_text: 'a' } }),
      blockDelta(2, { type: 'new_delta', text: 'b' }),
      blockStop(2),
    ),
  ),
  'usage that repeats, two ends of the message, and a second start': text([
    messageStart({ input_tokens: 25, output_tokens: 1 }),
    messageStart({ input_tokens: 25, output_tokens: 1 }),
    ...textBlock(0, 'ok'),
    messageDelta('end_turn', { output_tokens: 80 }),
    messageDelta('end_turn', { input_tokens: 25, output_tokens: 90, cache_read_input_tokens: null }),
    MESSAGE_STOP,
  ]),
  'a refusal with its explanation': text([
    messageStart(),
    messageDelta(
      'refusal',
      { output_tokens: 3 },
      { stop_details: { type: 'refusal', category: 'bio', explanation: 'I must not.' } },
    ),
    MESSAGE_STOP,
  ]),
  'a block without its start, and one without its stop': text([
    messageStart(),
    blockDelta(0, { type: 'text_delta', text: 'Hel' }),
    blockDelta(0, { type: 'text_delta', text: 'lo' }),
    messageDelta('max_tokens', { output_tokens: 2 }),
    MESSAGE_STOP,
  ]),
  'ends of two bytes, comments, a mark of the byte order, and no last stop': Buffer.from(
    `\ufeff: hello\n\n${text(ended(...textBlock(0, 'ok')).slice(0, -1))}`.replaceAll('\n', '\r\n'),
  ),
  'events without names, and [DONE] instead of the stop': `${ended(...textBlock(0, 'ok'))
    .slice(0, -1)
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('')}data: [DONE]\n\n`,
  'data in several lines': text(ended(...textBlock(0, 'ok'))).replaceAll(',"index"', ',\ndata: "index"'),
  'an error after the first content': text([
    messageStart(),
    blockStart(0, { type: 'text', text: '' }),
    blockDelta(0, { type: 'text_delta', text: 'Hel' }),
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  ]),
  'an end in the middle of an event': text(ended(...textBlock(0, 'ok'))).slice(0, -70),
};

/** For clients of the same wire. */
export const MESSAGES_STREAMS: readonly UpstreamStream[] = Object.entries(BODIES).map(([name, body]) => ({
  name: `Messages: ${name}`,
  body: Buffer.from(body as string),
  protocol: 'messages',
  client: 'messages',
}));
