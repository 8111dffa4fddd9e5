// The events of a stream that this service writes itself (docs/contract.md#chat-streams).

export const KEEP_ALIVE = Buffer.from(': OPENROUTER PROCESSING\n\n');
export const DONE = Buffer.from('data: [DONE]\n\n');

/** The members that are the same in every chunk of a stream. */
export interface StreamIdentity {
  /** `gen-…` */
  readonly id: string;
  /** Seconds. */
  readonly created: number;
  /** The catalogue's id of the model that answers. */
  readonly model: string;
  /** The provider's display name. */
  readonly provider: string;
}

export interface StreamedError {
  /** The status that the call would have without a stream. */
  readonly code: number;
  readonly message: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

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
export function errorChunk(
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

/** The end of a choice that the provider ended without a word of its own. */
export function finishChunk(
  identity: StreamIdentity,
  choice: { readonly index: number; readonly reason: string; readonly native: string | null },
): Buffer {
  const { index, reason, native } = choice;
  const finished = { index, delta: {}, finish_reason: reason, native_finish_reason: native };
  return chunk(identity, { choices: [finished] });
}

function chunk(identity: StreamIdentity, members: object): Buffer {
  return Buffer.concat([chunkStart(identity), Buffer.from(`${JSON.stringify(members).slice(1)}\n\n`)]);
}
