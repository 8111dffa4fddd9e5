// Azure OpenAI, both of its addresses. Source: Microsoft's reference; messages as users quote them.
import { openAiError } from './openai-errors.js';
import { answerOpenAiBody, openAiFailures } from './openai.js';
import { defineProviderStub } from './provider-stub.js';
import type { ProviderStub } from './provider-stub.js';

const DEPLOYMENTS: Readonly<Record<string, number>> = {
  'text-embedding-3-small': 1536,
  'text-embedding-3-large': 3072,
  'text-embedding-ada-002': 1536,
};
export const ENTRA_TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJodHRwczovL2NvZ25pdGl2ZXNlcnZpY2VzIn0.c3R1Yg';

export const azureStub: ProviderStub = defineProviderStub({
  slug: 'azure',
  apiKey: '0123456789abcdef0123456789abcdef',
  models: ['text-embedding-3-small', 'text-embedding-3-large', 'text-embedding-ada-002'],
  nativeWidth: 1536,
  maxInputs: 2048,
  basePath: '',
  failures: {
    ...openAiFailures,
    rateLimited: {
      status: 429,
      body: {
        error: {
          code: '429',
          message:
            'Requests to the Embeddings Operation have exceeded call rate limit. Please retry after 7 seconds.',
        },
      },
      headers: { 'retry-after': '7', 'x-ms-retry-after-ms': '6800' },
    },
  },
  answer(request) {
    const url = new URL(request.path, 'http://stub');
    const classic = /^\/openai\/deployments\/([^/]+)\/embeddings$/.exec(url.pathname);
    const isKnown = classic ? url.searchParams.has('api-version') : url.pathname === '/openai/v1/embeddings';
    if (request.method !== 'POST' || !isKnown) {
      return { status: 404, body: { error: { code: '404', message: 'Resource not found' } } };
    }
    const { authorization, 'api-key': apiKey } = request.headers;
    if (apiKey !== this.apiKey && authorization !== `Bearer ${ENTRA_TOKEN}`) {
      const message = 'Access denied due to invalid subscription key or wrong API endpoint.';
      return { status: 401, body: { error: { code: '401', message } } };
    }
    const deployment = classic ? decodeURIComponent(classic[1] ?? '') : String(request.body['model']);
    if (DEPLOYMENTS[deployment] === undefined) {
      return openAiError(404, 'The API deployment for this resource does not exist.', 'DeploymentNotFound');
    }
    return answerOpenAiBody({ ...request, body: { ...request.body, model: deployment } }, DEPLOYMENTS);
  },
});
