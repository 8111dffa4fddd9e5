// Chat calls from the console, charged to a key that the user chooses: the answer as it comes.
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { addChunk, EMPTY_ANSWER } from './chat-answer';
import type { ChatAnswer, ChatChunk } from './chat-answer';
import { CutStreamError, openConsole } from './client';
import { playgroundPath } from './playground';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly ChatPart[] | null;
  readonly tool_calls?: readonly object[];
  readonly tool_call_id?: string;
}

export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

export interface ChatBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly temperature?: number | undefined;
  readonly max_tokens?: number | undefined;
  readonly tools?: readonly unknown[] | undefined;
}

interface ChatCall {
  /** Undefined: the key of the session. */
  readonly keyHash: string | undefined;
  readonly body: ChatBody;
  readonly signal: AbortSignal;
  /** With each chunk, and once with the headers. */
  readonly onProgress: (answer: ChatAnswer) => void;
}

const DONE = '[DONE]';

/** Resolves when the stream ends. Rejects with ApiError before the headers, with CutStreamError for a stream that is cut. */
export async function streamChat({ keyHash, body, signal, onProgress }: ChatCall): Promise<ChatAnswer> {
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const path = playgroundPath('chat/completions', keyHash);
  const response = await openConsole('POST', path, { ...body, stream: true }, signal);
  let answer: ChatAnswer = { ...EMPTY_ANSWER, generationId: response.headers.get('x-generation-id') };
  onProgress(answer);
  for await (const data of eventsOf(response, signal)) {
    if (data === DONE) return { ...answer, latency: elapsed() };
    answer = addChunk(answer, JSON.parse(data) as ChatChunk, elapsed());
    onProgress(answer);
  }
  throw new CutStreamError(new Error('the stream ended before its last event'));
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
