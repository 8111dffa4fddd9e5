// The forms in which clients send model calls.
import type { ModelWire } from '../../domain/chat/model-wire.js';
import { readMessagesRequest } from './messages/read-messages-request.js';
import type { WireHeaders } from './messages/message-headers.js';
import { readChatRequest } from './read-chat-request.js';
import type { ReadChat } from './read-chat-request.js';

export type RequestReader = (
  body: Readonly<Record<string, unknown>>,
  bytes: Buffer,
  headers: WireHeaders,
) => ReadChat;

export const REQUEST_READERS: Readonly<Record<ModelWire, RequestReader>> = {
  chat: readChatRequest,
  messages: readMessagesRequest,
};
