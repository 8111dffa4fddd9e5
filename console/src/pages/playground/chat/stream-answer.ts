// Sends a chat, and reads its answer as it comes.
import { openChat } from '../../../api/chat';
import { CutStreamError } from '../../../api/client';
import { EMPTY_ANSWER, hasContent } from './wires/chat-answer';
import type { ChatAnswer } from './wires/chat-answer';
import type { ChatWire, WireBody } from './wires/chat-wire';

export interface SentCall {
  /** Undefined: the key of the session. */
  readonly keyHash: string | undefined;
  readonly wire: ChatWire;
  readonly body: WireBody;
}

/** Resolves with the last event. `onProgress`: with each event, and once with the headers. */
export async function streamAnswer(
  { keyHash, wire, body }: SentCall,
  signal: AbortSignal,
  onProgress: (answer: ChatAnswer) => void,
): Promise<ChatAnswer> {
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const { generationId, events } = await openChat({ keyHash, path: wire.path, body, signal });
  const reader = wire.newReader();
  onProgress({ ...EMPTY_ANSWER, generationId });
  let firstContent: number | null = null;
  for await (const data of events) {
    const isLast = reader.read(data);
    firstContent ??= hasContent(reader.answer) ? elapsed() : null;
    const answer = { ...reader.answer, generationId, firstContent, latency: isLast ? elapsed() : null };
    if (isLast) return answer;
    onProgress(answer);
  }
  throw new CutStreamError(new Error('the stream ended before its last event'));
}
