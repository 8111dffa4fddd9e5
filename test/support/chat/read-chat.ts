// Reads chat bodies as the operation does, and says why one is refused.
import { AppError } from '../../../src/domain/errors.js';
import { readChatRequest } from '../../../src/chat/request/read-chat-request.js';
import type { ReadChat } from '../../../src/chat/request/read-chat-request.js';

export const CHAT_BASE = { model: 'openai/gpt-4.1-mini', messages: [{ role: 'user', content: 'hi' }] };

export function readChatText(text: string): ReadChat {
  return readChatRequest(JSON.parse(text) as Record<string, unknown>, Buffer.from(text));
}

/** A plain body with these members. */
export const readChat = (members: object = {}): ReadChat =>
  readChatText(JSON.stringify({ ...CHAT_BASE, ...members }));

/** The message of the refusal with 400, or `accepted`. */
export function chatProblemOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError && error.status === 400)
      return error.message.replace('Invalid request parameters: ', '');
    throw error;
  }
  return 'accepted';
}

export const chatProblem = (members: object): string => chatProblemOf(() => readChat(members));
