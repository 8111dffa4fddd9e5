// Answers in the Responses wire for clients: the object of a response, and the events that this service writes itself
// (docs/contract.md#responses-answer).
import { wireErrorMessage, wireErrorType } from '../../http/errors/responses-errors.js';
import type { AppError } from '../../domain/errors.js';
import type { ResponsesForm } from '../../domain/chat/chat-request.js';
import { KEEP_ALIVE } from './chat.js';
import type { ClientWire, FailedStream, StreamIdentity } from './client-wire.js';
import { responsesUsage } from './responses-usage.js';

export interface ResponseParts {
  /** Of a provider whose answer passes; absent: this service's. */
  readonly id?: string | null;
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  /** JSON of the items. */
  readonly output: readonly Buffer[];
  /** Seconds; null: it goes on, or has failed. */
  readonly completedAt?: number;
  readonly error?: { readonly code: string; readonly message: string };
  /** The reason of an incomplete answer. */
  readonly incomplete?: string;
  readonly usage?: Readonly<Record<string, unknown>> | null;
  readonly serviceTier?: string | null;
  /** Further members. */
  readonly members?: Readonly<Record<string, unknown>>;
}

const COMMA = Buffer.from(',');
const EVENT_END = Buffer.from('\n\n');

/** The object of a response, in pieces. */
export function responseObject(
  identity: StreamIdentity,
  form: ResponsesForm | undefined,
  { id, status, output, completedAt, error, incomplete, usage, serviceTier, members }: ResponseParts,
): Buffer[] {
  const start = JSON.stringify({
    id: id ?? responseId(identity),
    object: 'response',
    created_at: identity.created,
    completed_at: completedAt ?? null,
    status,
    error: error ?? null,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    model: identity.model,
    provider: identity.provider,
    service_tier: serviceTier ?? null,
  });
  const end = JSON.stringify({ usage: usage ?? null, ...members });
  return [
    Buffer.from(`${start.slice(0, -1)},`),
    ...(form ? [form.echo, COMMA] : []),
    Buffer.from('"output":['),
    ...output.flatMap((item, index) => (index === 0 ? [item] : [COMMA, item])),
    Buffer.from(`],${end.slice(1)}`),
  ];
}

export function responseId({ id }: StreamIdentity): string {
  return `resp_${id}`;
}

/** The common members of an event. */
export function eventStart(type: string, sequence: number): string {
  return `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence},`;
}

/** `members`: JSON text of the members after the common ones, in pieces. */
export function responsesEvent(type: string, sequence: number, members: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from(eventStart(type, sequence)), ...members, Buffer.from('}'), EVENT_END]);
}

/** An event with the object of the response. `more`: members beside it, each after a comma. */
export function responseEvent(
  type: string,
  sequence: number,
  response: readonly Buffer[],
  more = '',
): Buffer {
  return responsesEvent(type, sequence, [Buffer.from('"response":'), ...response, Buffer.from(more)]);
}

/** As OpenAI's API sends it. An event with the response would replace what its SDK has joined so far. */
export function keepAliveEvent(sequence: number): Buffer {
  return Buffer.from(`event: keepalive\ndata: {"type":"keepalive","sequence_number":${sequence}}\n\n`);
}

/** The last event of a stream that failed. */
export function failedEvent(
  { identity, responses, error, usage, members }: FailedStream,
  sequence: number,
  output: readonly Buffer[],
  id: string | null = null,
): Buffer {
  const response = responseObject(identity, responses, {
    id,
    status: 'failed',
    output,
    error: streamError(error),
    usage: usage && responsesUsage(usage),
    members,
  });
  const type = JSON.stringify(error.errorType);
  return responseEvent('response.failed', sequence, response, `,"error_type":${type}`);
}

export const RESPONSES_CLIENT: ClientWire = {
  keepAlive: KEEP_ALIVE,
  /** Clients expect a beginning before the end. */
  failure(failed) {
    const { identity, responses } = failed;
    const begun = responseObject(identity, responses, { status: 'in_progress', output: [] });
    return Buffer.concat([responseEvent('response.created', 0, begun), failedEvent(failed, 1, [])]);
  },
};

/** Clients repeat a call by its code, and read the time to wait in the text. */
function streamError(error: AppError): { readonly code: string; readonly message: string } {
  return { code: wireErrorType(error).streamed, message: wireErrorMessage(error) };
}
