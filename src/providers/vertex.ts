// Google's Vertex: Gemini by the same wire as at its own API, and Claude by Messages. The key is the JSON of a service account
// (docs/operating.md#providers).
import { operationUrl } from './shared/address.js';
import { defineGeminiWire } from './shared/gemini/define-gemini-wire.js';
import { readGoogleError } from './shared/gemini/google-errors.js';
import { defineMessagesWire } from './shared/messages/define-messages-wire.js';
import type { ChatProvider, ProviderError, UpstreamResponse } from './shared/provider.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { GOOGLE_TOKENS } from './shared/vertex/token-exchange.js';
import { vertexPath } from './shared/vertex/vertex-address.js';
import { bearer, parseErrorBody } from './shared/wire.js';

export const vertex: ChatProvider = {
  transport: 'http',
  slug: 'vertex',
  name: 'Google Vertex',
  aliases: ['google-vertex'],
  defaultBaseUrl: 'https://aiplatform.googleapis.com/v1',
  needsApiKey: true,
  tokens: GOOGLE_TOKENS,
  chat: defineGeminiWire({
    url: (connection, model, operation) =>
      operationUrl(connection.baseUrl, vertexPath(connection, `google/models/${model}:${operation}`)),
    headers: ({ accessToken }) => bearer(accessToken),
  }),
  otherWires: [
    defineMessagesWire({
      cancellation: 'unknown',
      host: {
        version: 'vertex-2023-10-16',
        inAddress: ['model'],
        betasIn: 'header',
        path: ({ request, endpoint }, connection) => {
          const operation = request.isStreamed ? 'streamRawPredict' : 'rawPredict';
          return vertexPath(connection, `anthropic/models/${endpoint.upstreamModel}:${operation}`);
        },
        counter: {
          // The body names the model.
          inAddress: [],
          path: (_call, connection) => vertexPath(connection, 'anthropic/models/count-tokens:rawPredict'),
        },
        authorize: (request, { accessToken }) => ({
          ...request,
          headers: { ...request.headers, ...bearer(accessToken) },
        }),
        readError: readClaudeError,
      },
    }),
  ],
};

/** The model's own error, or one of Google's. */
function readClaudeError(response: UpstreamResponse): ProviderError {
  return parseErrorBody(response)['type'] === 'error'
    ? readUpstreamError(response)
    : readGoogleError(response);
}
