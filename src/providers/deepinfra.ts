// DeepInfra, at its OpenAI-compatible address. It has no input type; only the Qwen3 models take a width.
import { operationUrl, withoutPath } from './shared/address.js';
import { textsOf } from './shared/call-input.js';
import type { HttpProvider, ProviderCall, ProviderConnection, UpstreamRequest } from './shared/provider.js';
import { readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { BrokenAnswer } from './shared/provider.js';
import { defineModelList } from './shared/model-list.js';
import { defineRerankWire, documentTexts } from './shared/rerank-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { asObject, bearer, given, postJson, tokenCount } from './shared/wire.js';
import { defineChatWire } from './shared/chat/define-chat-wire.js';
import { OPEN_MESSAGES } from './shared/chat/member-rules.js';

export const deepinfra: HttpProvider = {
  transport: 'http',
  slug: 'deepinfra',
  name: 'DeepInfra',
  defaultBaseUrl: 'https://api.deepinfra.com/v1/openai',
  needsApiKey: true,
  // The tier `priority` costs a multiple of the listed price.
  billing: { free: ['normalize'], repriced: { service_tier: ['default'] } },
  buildRequest: buildDeepInfraRequest,
  readAnswer: readOpenAiAnswer,
  readUsage: readOpenAiUsage,
  readError: readUpstreamError,
  // https://deepinfra.com/docs/openai_api
  models: defineModelList({
    url: (baseUrl) => operationUrl(baseUrl, '/models'),
    facts: (item) => {
      const {
        context_length: contextLength,
        max_tokens: maxOutputTokens,
        pricing,
      } = asObject(item['metadata']);
      const { input_tokens: prompt, output_tokens: completion } = asObject(pricing);
      return { contextLength, maxOutputTokens, prices: { prompt, completion } };
    },
  }),
  chat: defineChatWire({
    outputLimit: () => 'max_tokens',
    streamUsage: () => 'ask',
    members: { service_tier: 'listed' },
    messages: { ...OPEN_MESSAGES, reasoning: 'reasoning_content' },
    mediaUrls: 'listed',
    readError: readUpstreamError,
    cancellation: 'stops',
  }),
  // https://deepinfra.com/Qwen/Qwen3-Reranker-8B/api
  rerank: defineRerankWire({
    bills: ['token'],
    billing: { repriced: { service_tier: ['default'] } },
    // Pairs of a query and a document, not at the OpenAI-compatible address.
    buildRequest: (call, { baseUrl, apiKey }) => {
      const documents = documentTexts(call);
      const url = operationUrl(withoutPath(baseUrl, '/openai'), `/inference/${call.upstreamModel}`);
      return postJson(url, bearer(apiKey), {
        ...call.extra,
        queries: documents.map(() => call.query),
        documents,
      });
    },
    results: (body, { documents }) => {
      const { scores } = asObject(body);
      if (!Array.isArray(scores) || scores.length !== documents.items.length)
        throw new BrokenAnswer('the answer does not have one score for each document');
      return scores.map((score: unknown, index) => {
        if (typeof score !== 'number') throw new BrokenAnswer('a score is no number');
        return { index, score };
      });
    },
    usage: (body) => {
      const tokens = tokenCount(asObject(body)['input_tokens']);
      return { promptTokens: tokens, totalTokens: tokens };
    },
    id: (body) => asObject(body)['request_id'],
  }),
};

function buildDeepInfraRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  return postJson(operationUrl(baseUrl, '/embeddings'), bearer(apiKey), {
    ...call.extra,
    model: call.upstreamModel,
    input: textsOf(call),
    // Null is refused.
    encoding_format: call.encodingFormat,
    ...given('dimensions', call.dimensions),
  });
}
