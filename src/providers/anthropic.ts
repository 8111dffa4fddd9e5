// Anthropic's own API. It has chat models only (docs/contract.md#messages-providers).
import type { ChatProvider } from './shared/provider.js';
import { operationUrl, withoutVersion } from './shared/address.js';
import { API_VERSION, defineMessagesWire } from './shared/messages/define-messages-wire.js';
import { dayOf, defineModelList } from './shared/model-list.js';

export const anthropic: ChatProvider = {
  transport: 'http',
  slug: 'anthropic',
  name: 'Anthropic',
  defaultBaseUrl: 'https://api.anthropic.com',
  needsApiKey: true,
  chat: defineMessagesWire({
    headers: keyHeader,
    // Source: OpenRouter's documentation of cancelled streams.
    cancellation: 'stops',
  }),
  // https://platform.claude.com/docs/en/api/models-list
  models: defineModelList({
    url: (baseUrl) => operationUrl(withoutVersion(baseUrl), '/v1/models'),
    headers: (apiKey) => ({ ...keyHeader(apiKey), 'anthropic-version': API_VERSION }),
    query: { limit: '1000' },
    facts: ({ display_name: displayName, created_at: createdAt }) => ({
      kind: 'chat',
      displayName,
      releasedOn: dayOf(createdAt),
    }),
    next: ({ has_more: hasMore, last_id: last }) => (hasMore === true ? { after_id: last } : null),
  }),
};

function keyHeader(apiKey: string | undefined): Readonly<Record<string, string>> {
  return apiKey === undefined ? {} : { 'x-api-key': apiKey };
}
