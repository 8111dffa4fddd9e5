// The APIs that a chat can be sent through.
import type { ChatWire, WireName } from './chat-wire';
import { CHAT_COMPLETIONS } from './completions';
import { MESSAGES } from './messages';
import { RESPONSES } from './responses';

export const WIRES: Readonly<Record<WireName, ChatWire>> = {
  chat: CHAT_COMPLETIONS,
  messages: MESSAGES,
  responses: RESPONSES,
};
