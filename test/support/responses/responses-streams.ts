// Streams in the Responses wire, with the peculiarities of the servers that speak it.
import type { UpstreamStream } from '../chat/upstream-streams.js';
import {
  answerEvents,
  endOf,
  eventText,
  itemEvents,
  itemOf,
  numbered,
  RICH_OUTPUT,
  STARTED,
} from './responses-events.js';
import type { OutputSpec, WireEvent } from './responses-events.js';

/** Short: each is cut at every byte. */
const text = (events: readonly WireEvent[]): string =>
  events
    .filter(({ type }) => type !== 'response.in_progress')
    .map((event, index) =>
      Object.assign(
        {},
        event,
        'response' in event && { response: essenceOf(event['response']) },
        'sequence_number' in event && { sequence_number: index },
      ),
    )
    .map(eventText)
    .join('');
const essenceOf = (response: unknown): object => {
  const { id, error, incomplete_details, output, usage } = response as Record<string, unknown>;
  return {
    id,
    ...(error !== null && { error }),
    ...(incomplete_details !== null && { incomplete_details }),
    output,
    usage,
  };
};
const HELLO: OutputSpec = { type: 'message', deltas: ['Hel', 'lo'] };
const CALL: OutputSpec = { type: 'function_call', callId: 'call_1', name: 'look', deltas: ['{"a":', '1}'] };
const OTHER_CALL: OutputSpec = { ...CALL, callId: 'call_2', deltas: ['{"b":', '2}'] };
const THOUGHT: OutputSpec = { type: 'reasoning', summary: [['Hm', '.']], encrypted: 'gAAAA-1' };

/** Around the events of items. */
const around = (specs: readonly OutputSpec[], ...events: readonly WireEvent[]): WireEvent[] =>
  numbered([...STARTED, ...events, endOf(specs.map((spec, index) => itemOf(spec, index)))]);
const eventsOf = (spec: OutputSpec, index = 0): WireEvent[] => itemEvents(spec, index);
const without = (events: readonly WireEvent[], ...types: readonly string[]): WireEvent[] =>
  events.filter(({ type }) => !types.some((each) => type === `response.${each}`));
/** Taken from each list in turns. */
const inTurns = (...lists: readonly (readonly WireEvent[])[]): WireEvent[] =>
  Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_none, at) =>
    lists.flatMap((list) => list.slice(at, at + 1)),
  ).flat();
const withItem = (event: WireEvent, item: object): WireEvent => ({
  ...event,
  item: { ...(event['item'] as object), ...item },
});

const DELTAS_LAST = 'function_call_arguments.delta';
const EMPTY_DONE: OutputSpec = { ...CALL, deltas: [] };

const BODIES: Readonly<Record<string, string | Buffer>> = {
  'a thought, a text and two calls': text(answerEvents(RICH_OUTPUT)),
  'escapes and characters of several bytes': text(
    answerEvents([{ type: 'message', deltas: ['é漢', '😀\n"', '\\u00e9 \u2028'] }]),
  )
    .replaceAll('é', '\\u00e9')
    .replaceAll('😀', '\\ud83d\\ude00'),
  'a text that becomes a refusal': text(
    answerEvents([HELLO, { type: 'message', deltas: ['I must ', 'not.'], isRefusal: true }]),
  ),
  'a thought that is hidden, and one of an open model': text(
    answerEvents([
      { type: 'reasoning', summary: [], encrypted: 'gAAAA-2' },
      { type: 'thought', deltas: ['One. ', 'Two.'] },
      HELLO,
    ]),
  ),
  'a call of a custom tool': text(
    answerEvents([
      { type: 'custom_tool_call', callId: 'call_1', name: 'patch', deltas: ['*** "Begin"\n', '\\ é'] },
      { type: 'custom_tool_call', callId: 'call_2', name: 'patch', deltas: [] },
    ]),
  ),
  'parallel calls in turns': text(
    around([CALL, OTHER_CALL], ...inTurns(eventsOf(CALL, 0), eventsOf(OTHER_CALL, 1))),
  ),
  'items without their beginning': text(
    around(
      [THOUGHT, HELLO, CALL],
      ...[THOUGHT, HELLO, CALL].flatMap((spec, index) => without(eventsOf(spec, index), 'output_item.added')),
    ),
  ),
  'a message whose beginning has no content': text(
    answerEvents([HELLO]).map((event) =>
      event.type === 'response.output_item.added' ? withItem(event, { content: undefined }) : event,
    ),
  ),
  'arguments that come behind their empty end': text(
    around(
      [CALL],
      ...without(eventsOf(EMPTY_DONE), 'none'),
      ...eventsOf(CALL).filter(({ type }) => type === `response.${DELTAS_LAST}`),
    ),
  ),
  'a call and a thought in the same place': text(
    around([CALL], ...eventsOf(CALL, 0), ...eventsOf(THOUGHT, 0), ...eventsOf(HELLO, 1)),
  ),
  'items in their end alone': text(
    around([HELLO, CALL], ...[HELLO, CALL].flatMap((spec, index) => eventsOf(spec, index).slice(-1))),
  ),
  'items in the last event alone': text(around([THOUGHT, HELLO, CALL])),
  'ids that change from event to event': text(
    answerEvents(RICH_OUTPUT).map((event, index) =>
      Object.assign({}, event, 'item_id' in event && { item_id: `x${index}` }),
    ),
  ),
  'an end by the limit of tokens': text(
    answerEvents([HELLO], { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
  ),
  'an end by a filter': text(
    answerEvents([HELLO], { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }),
  ),
  'a failure after the first content': text([
    ...around([HELLO], ...eventsOf(HELLO)).slice(0, -2),
    endOf([], { status: 'failed', error: { code: 'server_error', message: 'The server had an error.' } }),
  ]),
  'an error after the first content': text([
    ...around([HELLO], ...eventsOf(HELLO)).slice(0, -2),
    { type: 'error', code: 'rate_limit_exceeded', message: 'Slow down.', param: null, sequence_number: 9 },
  ]),
  'types without a reader, and the item of a tool of the provider': text(
    around(
      [HELLO],
      { type: 'response.something_new', value: 1 },
      { type: 'keepalive' },
      { type: 'response.output_item.added', output_index: 1, item: { id: 'ws_1', type: 'web_search_call' } },
      { type: 'response.web_search_call.searching', output_index: 1, item_id: 'ws_1' },
      { type: 'response.output_item.done', output_index: 1, item: { id: 'ws_1', type: 'web_search_call' } },
      ...eventsOf(HELLO),
    ),
  ),
  'events without numbers and names, and [DONE] at the end': `${[
    ...STARTED,
    ...eventsOf(HELLO),
    endOf([itemOf(HELLO, 0)], { usage: null }),
  ]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('')}data: [DONE]\n\n`,
  'ends of two bytes, comments and a mark of the byte order': Buffer.from(
    `\ufeff: hello\n\n${text(answerEvents([HELLO]))}`.replaceAll('\n', '\r\n'),
  ),
  'data in several lines': text(answerEvents([HELLO])).replaceAll(
    ',"output_index"',
    ',\ndata: "output_index"',
  ),
  'an end before the last event': text(answerEvents([HELLO]).slice(0, -1)),
  'an end in the middle of an event': text(answerEvents([HELLO])).slice(0, -70),
};

/** For clients of the same wire. */
export const RESPONSES_STREAMS: readonly UpstreamStream[] = Object.entries(BODIES).map(([name, body]) => ({
  name: `Responses: ${name}`,
  body: Buffer.from(body as string),
  protocol: 'responses',
  client: 'responses',
}));

export function responsesStream(name: string): UpstreamStream {
  const found = RESPONSES_STREAMS.find((one) => one.name === `Responses: ${name}`);
  if (!found) throw new Error(`no stream ${name}`);
  return found;
}
