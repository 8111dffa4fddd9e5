// Google's Vertex: Gemini by the same wire as at Google's own API, and Claude by Messages. The key is the JSON of a service account (docs/operating.md#providers).
import { defineGeminiWire } from './shared/gemini/define-gemini-wire.js';
import { defineMessagesWire } from './shared/messages/define-messages-wire.js';
import type { ChatProvider } from './shared/provider.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { GOOGLE_TOKENS } from './shared/vertex/token-exchange.js';
import { vertexUrl } from './shared/vertex/vertex-address.js';
import { bearer } from './shared/wire.js';

export const vertex: ChatProvider = {
  transport: 'http',
  slug: 'vertex',
  name: 'Google Vertex',
  aliases: ['google-vertex'],
  defaultBaseUrl: 'https://aiplatform.googleapis.com/v1',
  needsApiKey: true,
  tokens: GOOGLE_TOKENS,
  chat: defineGeminiWire({
    url: (connection, model, operation) => vertexUrl(connection, `google/models/${model}:${operation}`),
    headers: ({ accessToken }) => bearer(accessToken),
    countBody: (prompt) => [prompt],
  }),
  otherWires: [
    defineMessagesWire({
      cancellation: 'unknown',
      host: {
        version: 'vertex-2023-10-16',
        url: ({ request, endpoint }, connection) => {
          const operation = request.isStreamed ? 'streamRawPredict' : 'rawPredict';
          return vertexUrl(connection, `anthropic/models/${endpoint.upstreamModel}:${operation}`);
        },
        authorize: (request, { accessToken }) => ({
          ...request,
          headers: { ...request.headers, ...bearer(accessToken) },
        }),
        readError: readUpstreamError,
      },
    }),
  ],
};
