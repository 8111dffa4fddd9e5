// Checks the events of a stream by the rules of its client's wire. Every check returns null, or a description of the problem.
import { asObject } from '../assert-answer.js';
import type { Problem } from '../assert-answer.js';
import { eventsOf } from './clients.js';
import type { ClientWire } from './clients.js';

const NO_EVENT = 'no event';
const TYPES: Readonly<Record<string, string>> = {
  text_delta: 'text',
  citations_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'thinking',
  input_json_delta: 'tool_use',
};

export function announcementProblem(client: ClientWire, text: string): Problem {
  const events = eventsOf({ text });
  if (events.length === 0) return NO_EVENT;
  return client === 'messages' ? blocksProblem(events) : itemsProblem(events);
}

type Events = readonly Readonly<Record<string, unknown>>[];

function blocksProblem(events: Events): Problem {
  const types = new Map<unknown, unknown>();
  const open = new Set<unknown>();
  for (const { type, index, content_block: block, delta } of events) {
    if (type === 'content_block_start') {
      if (types.has(index)) return `index ${String(index)} twice`;
      types.set(index, asObject(block)['type']);
      open.add(index);
    }
    if (type === 'content_block_delta') {
      const kind = String(asObject(delta)['type']);
      if (!open.has(index)) return `${kind} outside of a block`;
      if (types.get(index) !== TYPES[kind]) return `${kind} in a block of ${String(types.get(index))}`;
    }
    if (type === 'content_block_stop' && !open.delete(index)) return 'a block ends twice';
    if (type === 'message_delta' && open.size > 0) return 'a block stays open';
  }
  const starts = events.filter(({ type }) => type === 'message_start').length;
  return starts === 1 ? null : `${starts} message_start`;
}

function itemsProblem(events: Events): Problem {
  const announced = new Set<unknown>();
  const done = new Set<unknown>();
  for (const { type, item, item_id: id } of events) {
    const own = asObject(item)['id'];
    if (type === 'response.output_item.added') announced.add(own);
    if (type === 'response.output_item.done') done.add(own);
    if (typeof type !== 'string' || !type.endsWith('.delta')) continue;
    if (!announced.has(id)) return `${type} of an item that was not announced`;
    if (done.has(id)) return `${type} of an item that has ended`;
  }
  const open = [...announced].filter((id) => !done.has(id));
  return open.length === 0 ? null : `${open.length} items stay open`;
}

export function numberingProblem(text: string): Problem {
  const events = eventsOf({ text });
  if (events.length === 0) return NO_EVENT;
  const wrong = events.findIndex(({ sequence_number: number }, index) => number !== index);
  if (wrong < 0) return null;
  const { type, sequence_number: number } = events[wrong] ?? {};
  return `${String(type)} has the number ${String(number)} and not ${wrong}`;
}

const USAGE = ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];

export function usageAtStart(text: string): Problem {
  const start = eventsOf({ text }).find(({ type }) => type === 'message_start');
  const usage = asObject(asObject(start?.['message'])['usage']);
  const missing = USAGE.filter((name) => usage[name] === undefined);
  if (missing.length > 0) return `no ${missing.join(', ')}`;
  return Number(usage['input_tokens']) > 0 ? null : `input_tokens ${String(usage['input_tokens'])}`;
}

/** The last event is the error of the client's wire. */
export function failureProblem(client: ClientWire, status: number, text: string): Problem {
  if (status >= 500) return null;
  if (status !== 200) return `status ${status}`;
  const events = eventsOf({ text });
  const last = events.at(-1) ?? {};
  switch (client) {
    case 'messages':
      return last['type'] === 'error' ? null : `the last event is ${String(last['type'])}`;
    case 'responses':
      return last['type'] === 'response.failed' || last['type'] === 'error'
        ? null
        : `the last event is ${String(last['type'])}`;
    case 'chat':
      return events.some(({ error }) => error !== undefined && error !== null)
        ? null
        : 'no chunk with an error';
  }
}
