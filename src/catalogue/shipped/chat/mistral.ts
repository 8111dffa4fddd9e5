// Mistral's chat models at its own API. Context lengths, parameters and the price of the cached part, a tenth of the prompt's:
// its model cards and its guide to prompt caching.
import type { ChatEndpoint, ChatModel } from '../../../domain/chat/chat-model.js';
import { KEPT_NOT_TRAINED_ON } from '../facts.js';
import {
  FORMAT_PARAMETERS,
  listedChatPrices,
  PENALTY_PARAMETERS,
  SAMPLING_PARAMETERS,
  TOOL_PARAMETERS,
} from './facts.js';
import type { ListedPrices } from './facts.js';
import { openModel } from './open-model.js';

const PARAMETERS = [
  ...TOOL_PARAMETERS,
  ...FORMAT_PARAMETERS,
  ...SAMPLING_PARAMETERS,
  ...PENALTY_PARAMETERS,
  'max_tokens',
  'parallel_tool_calls',
  'n',
];
const PREDICTING = [...PARAMETERS, 'prediction'];

type Settings = Pick<ChatEndpoint, 'upstreamModel' | 'contextLength'> & Partial<ChatEndpoint>;

function mistral(prices: ListedPrices, settings: Settings): ChatEndpoint {
  return {
    provider: 'mistral',
    supportedParameters: PARAMETERS,
    inputModalities: ['text', 'image'],
    reasoningEfforts: [],
    isReasoning: false,
    hidesReasoning: false,
    prices: listedChatPrices(prices),
    quantization: null,
    dataPolicy: KEPT_NOT_TRAINED_ON,
    ...settings,
  };
}

const SMALL = openModel({
  id: 'mistralai/mistral-small-3.2-24b-instruct',
  name: 'Mistral: Mistral Small 3.2 24B',
  description: 'Small model with open weights for text and images.',
  createdAt: '2025-06-20',
  contextLength: 128_000,
  hasTools: true,
  takesImages: true,
  served: [
    {
      by: 'deepinfra',
      upstreamModel: 'mistralai/Mistral-Small-3.2-24B-Instruct-2506',
      prices: { prompt: '0.075', completion: '0.2' },
    },
  ],
});

export const MISTRAL_CHAT_MODELS: readonly ChatModel[] = [
  {
    id: 'mistralai/mistral-large-2512',
    name: 'Mistral: Mistral Large 3 2512',
    description: 'Large model with open weights for text and images.',
    createdAt: '2025-12-02',
    contextLength: 256_000,
    tokenizer: null,
    endpoints: [
      mistral(
        { prompt: '0.5', completion: '1.5', cacheRead: '0.05' },
        { upstreamModel: 'mistral-large-2512', contextLength: 256_000 },
      ),
    ],
  },
  {
    id: 'mistralai/mistral-medium-3.1',
    name: 'Mistral: Mistral Medium 3.1',
    description: 'General-purpose model for text and images.',
    createdAt: '2025-08-12',
    contextLength: 131_072,
    tokenizer: null,
    endpoints: [
      mistral(
        { prompt: '0.4', completion: '2', cacheRead: '0.04' },
        {
          upstreamModel: 'mistral-medium-2508',
          contextLength: 131_072,
          supportedParameters: PREDICTING,
        },
      ),
    ],
  },
  {
    id: 'mistralai/codestral-2508',
    name: 'Mistral: Codestral 2508',
    description: 'Model for code with short answer times.',
    createdAt: '2025-07-30',
    contextLength: 128_000,
    tokenizer: null,
    endpoints: [
      mistral(
        { prompt: '0.3', completion: '0.9', cacheRead: '0.03' },
        {
          upstreamModel: 'codestral-2508',
          contextLength: 128_000,
          inputModalities: ['text'],
          supportedParameters: PREDICTING,
        },
      ),
    ],
  },
  {
    id: 'mistralai/magistral-medium-2509',
    name: 'Mistral: Magistral Medium 2509',
    description: 'Reasoning model whose thoughts are part of its answers.',
    createdAt: '2025-09-17',
    contextLength: 128_000,
    tokenizer: null,
    endpoints: [
      mistral(
        { prompt: '2', completion: '5' },
        { upstreamModel: 'magistral-medium-2509', contextLength: 128_000, isReasoning: true },
      ),
    ],
  },
  {
    ...SMALL,
    endpoints: [
      mistral(
        { prompt: '0.1', completion: '0.3' },
        { upstreamModel: 'mistral-small-2506', contextLength: 128_000, supportedParameters: PREDICTING },
      ),
      ...SMALL.endpoints,
    ],
  },
];
