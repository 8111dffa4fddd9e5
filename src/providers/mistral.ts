// Mistral. It has no input type and no user; only codestral-embed takes a width.
import { operationUrl } from './shared/address.js';
import { extraWithout, rejectOtherForms, textsOf } from './shared/call-input.js';
import type { HttpProvider, ProviderCall, ProviderConnection, UpstreamRequest } from './shared/provider.js';
import { dayOf, defineModelList } from './shared/model-list.js';
import { readOpenAiAnswer, readOpenAiUsage } from './shared/openai-wire.js';
import { readUpstreamError } from './shared/upstream-error.js';
import { asObject, bearer, given, postJson } from './shared/wire.js';
import { createHash } from 'node:crypto';
import { defineChatWire } from './shared/chat/define-chat-wire.js';
import { NO_CACHE_SETTINGS, NO_OPEN_SAMPLING, renamed } from './shared/chat/member-rules.js';

const FORMS = { output_dtype: ['float'] };

export const mistral: HttpProvider = {
  transport: 'http',
  slug: 'mistral',
  name: 'Mistral',
  defaultBaseUrl: 'https://api.mistral.ai/v1',
  needsApiKey: true,
  billing: { free: ['metadata'] },
  buildRequest: buildMistralRequest,
  readAnswer: readOpenAiAnswer,
  readUsage: readOpenAiUsage,
  readError: readUpstreamError,
  // https://docs.mistral.ai/api/endpoint/models
  models: defineModelList({
    url: (baseUrl) => operationUrl(baseUrl, '/models'),
    facts: (item) => ({
      kind: asObject(item['capabilities'])['completion_chat'] === true ? 'chat' : undefined,
      displayName: item['name'],
      contextLength: item['max_context_length'],
      aliases: item['aliases'],
      retiresOn: dayOf(item['deprecation']),
      successor: item['deprecation_replacement_model'],
    }),
  }),
  chat: defineChatWire({
    outputLimit: () => 'max_tokens',
    // `stream_options` is refused with 422.
    streamUsage: () => 'unasked',
    members: {
      ...NO_OPEN_SAMPLING,
      ...NO_CACHE_SETTINGS,
      seed: renamed('random_seed'),
      logit_bias: 'drop',
      user: 'drop',
      verbosity: 'drop',
    },
    needsParameters: true,
    lacks: ['logprobs'],
    messages: {
      developerRole: 'system',
      names: 'tool',
      reasoning: null,
      members: ['prefix'],
      prefill: { prefix: true },
    },
    mediaUrls: 'sent',
    toolCallId: toMistralId,
    finishReasons: { model_length: 'length' },
    readError: readUpstreamError,
    cancellation: 'runs_on',
  }),
};

function buildMistralRequest(call: ProviderCall, { baseUrl, apiKey }: ProviderConnection): UpstreamRequest {
  rejectOtherForms(FORMS, call);
  return postJson(operationUrl(baseUrl, '/embeddings'), bearer(apiKey), {
    ...extraWithout('output_dimension', call),
    model: call.upstreamModel,
    input: textsOf(call),
    encoding_format: call.encodingFormat,
    ...given('output_dimension', call.dimensions),
  });
}

/** Mistral takes ids of nine letters and digits only. A pure function, so that a call and its result keep their common id. */
function toMistralId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id;
  // 45 characters of base64 leave nine without its two signs, with enough certainty.
  const text = createHash('sha512')
    .update(id)
    .digest('base64')
    .replace(/[^a-zA-Z0-9]/g, '');
  return text.slice(0, 9).padEnd(9, '0');
}
