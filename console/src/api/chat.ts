// Chat calls from the console, charged to a key that the user chooses: the events of the answer as they come.
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { CutStreamError, openConsole } from './client';
import { playgroundPath } from './playground';

export interface ChatRequest {
  /** Undefined: the key of the session. */
  readonly keyHash: string | undefined;
  /** Below /api/v1. */
  readonly path: string;
  readonly body: object;
  readonly signal: AbortSignal;
}

export interface ChatEvents {
  readonly generationId: string | null;
  /** The data of each. */
  readonly events: AsyncGenerator<string>;
}

/** Rejects with ApiError before the headers; the events do with CutStreamError for a stream that is cut. */
export async function openChat({ keyHash, path, body, signal }: ChatRequest): Promise<ChatEvents> {
  const response = await openConsole('POST', playgroundPath(path, keyHash), body, signal);
  return {
    generationId: response.headers.get('x-generation-id'),
    events: eventsOf(response, signal),
  };
}

async function* eventsOf({ body }: Response, signal: AbortSignal): AsyncGenerator<string> {
  if (body === null) return;
  // Typed for Node as well, whose decoder takes other views.
  const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>;
  const reader = body.pipeThrough(decoder).pipeThrough(new EventSourceParserStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await read(reader, signal);
      if (done) return;
      yield value.data;
    }
  } finally {
    reader.releaseLock();
  }
}

async function read<Value>(reader: ReadableStreamDefaultReader<Value>, signal: AbortSignal) {
  try {
    return await reader.read();
  } catch (error) {
    if (signal.aborted) throw error;
    throw new CutStreamError(error);
  }
}
