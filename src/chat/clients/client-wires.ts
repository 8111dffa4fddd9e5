// The wires of clients.
import type { ModelWire } from '../../domain/chat/model-wire.js';
import { CHAT_CLIENT } from './chat.js';
import type { ClientWire } from './client-wire.js';
import { MESSAGES_CLIENT } from './messages.js';
import { RESPONSES_CLIENT } from './responses.js';

const CLIENTS: Readonly<Record<ModelWire, ClientWire>> = {
  chat: CHAT_CLIENT,
  messages: MESSAGES_CLIENT,
  responses: RESPONSES_CLIENT,
};

export function clientWireOf(wire: ModelWire): ClientWire {
  return CLIENTS[wire];
}
