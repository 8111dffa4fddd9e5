// Answers in Chat's wire for clients (docs/contract.md#chat-streams): the events and members that this service writes itself,
// around those that come from a provider in the same wire.
import { toChatUsageDto } from '../dto/chat-usage.dto.js';
import type { AnsweredChoice } from '../kernel/answer.js';
import type { ClientWire, StreamIdentity } from './client-wire.js';

/** A comment, for clients of every wire that has no event for it. */
export const KEEP_ALIVE = Buffer.from(': OPENROUTER PROCESSING\n\n');
export const DONE = Buffer.from('data: [DONE]\n\n');

interface StreamedError {
  /** The status that the call would have without a stream. */
  readonly code: number;
  readonly message: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export const CHUNK_END = Buffer.from('}\n\n');

/** The beginning of every chunk: further members follow, then a brace and a blank line. */
export function chunkStart(identity: StreamIdentity): Buffer {
  const { id, created, model, provider } = identity;
  const text = JSON.stringify({ id, object: 'chat.completion.chunk', created, model, provider });
  return Buffer.from(`data: ${text.slice(0, -1)},`);
}

/** `hasChoice`: many clients read the first choice of every chunk. Some join the texts of its delta, the role included. */
export function usageChunk(
  identity: StreamIdentity,
  members: { readonly usage: object } & Readonly<Record<string, unknown>>,
  hasChoice: boolean,
): Buffer {
  const choice = { index: 0, delta: { content: '' }, finish_reason: null };
  return chunk(identity, { choices: hasChoice ? [choice] : [], ...members });
}

/** A failure after the headers. Clients that read the error read nothing after it: usage is part of this chunk. */
function errorChunk(
  identity: StreamIdentity,
  error: StreamedError,
  members: Readonly<Record<string, unknown>> = {},
): Buffer {
  const choice = {
    index: 0,
    delta: { content: '' },
    finish_reason: 'error',
    native_finish_reason: 'error',
  };
  return chunk(identity, { choices: [choice], error, ...members });
}

export const CHAT_CLIENT: ClientWire = {
  keepAlive: KEEP_ALIVE,
  failure({ identity, error, usage, members }) {
    const { status: code, message, errorType, metadata, headers } = error;
    // The headers of the stream have left: those of its error are repeated here.
    const stated = Object.keys(headers).length === 0 ? {} : { headers };
    const shown = { code, message, metadata: { error_type: errorType, ...metadata, ...stated } };
    const shownUsage = usage && { usage: toChatUsageDto(usage.usage, usage.cost) };
    return Buffer.concat([errorChunk(identity, shown, { ...shownUsage, ...members }), DONE]);
  },
};

/** The finish reason of a choice. Calls without arguments get an empty object: clients parse the joined text. */
export function finishChunk(identity: StreamIdentity, choice: AnsweredChoice): Buffer {
  const { index, finishReason: reason, nativeFinishReason: native, calls } = choice;
  const empty = calls.flatMap(({ arguments: { length } }, at) =>
    length === 0 ? [{ index: at, function: { arguments: '{}' } }] : [],
  );
  const delta = empty.length > 0 ? { tool_calls: empty } : {};
  const finished = { index, delta, finish_reason: reason, native_finish_reason: native };
  return chunk(identity, { choices: [finished] });
}

/** A whole answer, in pieces. `pieces`: its members from the provider, at least the choices. */
export function bodyOf(
  identity: StreamIdentity,
  pieces: readonly Buffer[],
  members: object,
): readonly Buffer[] {
  const { id, model, provider, created } = identity;
  const start = JSON.stringify({ id, object: 'chat.completion', created, model, provider });
  const end = JSON.stringify(members).slice(1);
  return [Buffer.from(`${start.slice(0, -1)},`), ...pieces, Buffer.from(end === '}' ? end : `,${end}`)];
}

function chunk(identity: StreamIdentity, members: object): Buffer {
  return Buffer.concat([chunkStart(identity), Buffer.from(`${JSON.stringify(members).slice(1)}\n\n`)]);
}
