// The memory of an answer without a stream, estimated before the call.
import type { ChatRequest } from '../../domain/chat/chat-request.js';

type AnswerSettings = Pick<ChatRequest, 'wantsLogprobs' | 'topLogprobs'>;

// A token of English text.
const TEXT_BYTES = 4;
// The token, its log probability and its bytes, as JSON.
const LOGPROB_BYTES = 80;
// The members around the texts.
const BYTES_AROUND = 2_048;

export function bytesOfToken({ wantsLogprobs, topLogprobs }: AnswerSettings): number {
  return TEXT_BYTES + (wantsLogprobs ? (1 + topLogprobs) * LOGPROB_BYTES : 0);
}

/** `outputTokens`: the most that the answer can have. `mostBytes`: a larger answer is not read. */
export function answerBytes(request: AnswerSettings, outputTokens: number, mostBytes: number): number {
  return Math.min(mostBytes, BYTES_AROUND + outputTokens * bytesOfToken(request));
}
