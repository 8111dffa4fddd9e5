// The forms in which clients send model calls.
import { isGiven } from '../../domain/members.js';
import { AppError } from '../../domain/errors.js';
import type { ModelWire } from '../../domain/chat/model-wire.js';
import { readMessagesRequest } from './messages/read-messages-request.js';
import type { WireHeaders } from './messages/message-headers.js';
import { readChatRequest } from './read-chat-request.js';
import type { ReadChat } from './read-chat-request.js';
import { readResponsesRequest } from './responses/read-responses-request.js';

export type RequestReader = (
  body: Readonly<Record<string, unknown>>,
  bytes: Buffer,
  headers: WireHeaders,
) => ReadChat;

export const REQUEST_READERS: Readonly<Record<ModelWire, RequestReader>> = {
  chat: (body, bytes) =>
    isResponsesBody(body) ? readResponsesRequest(body, bytes, 'chat') : readChatRequest(body, bytes),
  messages: readMessagesRequest,
  responses: (body, bytes) => readResponsesRequest(body, bytes),
};

/** Some editors send the body of the Responses wire to the address of Chat, and read Chat's answer. */
export function isResponsesBody({ input, messages }: Readonly<Record<string, unknown>>): boolean {
  if (isGiven(input) && isGiven(messages))
    throw new AppError('invalid_request', {
      detail: 'input and messages: only one of them; messages belong to Chat, input to Responses',
    });
  return isGiven(input);
}
