// Anthropic's own API. It has chat models only (docs/contract.md#messages-providers).
import type { ChatProvider } from './shared/provider.js';
import { defineMessagesWire } from './shared/messages/define-messages-wire.js';

export const anthropic: ChatProvider = {
  transport: 'http',
  slug: 'anthropic',
  name: 'Anthropic',
  defaultBaseUrl: 'https://api.anthropic.com',
  needsApiKey: true,
  chat: defineMessagesWire({
    headers: (apiKey) => (apiKey === undefined ? {} : { 'x-api-key': apiKey }),
    // Source: OpenRouter's documentation of cancelled streams.
    cancellation: 'stops',
  }),
};
