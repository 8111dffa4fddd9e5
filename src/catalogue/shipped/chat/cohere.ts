// Cohere's chat models at its compatibility API. Lengths and parameters: Cohere's model overview and its guide to the API.
import type { ChatEndpoint, ChatModel, DatedChatPrices } from '../../../domain/chat/chat-model.js';
import { POLICY_NOT_KNOWN } from '../facts.js';
import {
  FORMAT_PARAMETERS,
  listedChatPrices,
  LITELLM_PRICES,
  PENALTY_PARAMETERS,
  SAMPLING_PARAMETERS,
} from './facts.js';

const PARAMETERS = [
  ...FORMAT_PARAMETERS,
  ...SAMPLING_PARAMETERS,
  ...PENALTY_PARAMETERS,
  'max_tokens',
  'tools',
];

function cohere(
  upstreamModel: string,
  contextLength: number,
  maxOutputTokens: number,
  prices: readonly DatedChatPrices[],
): readonly ChatEndpoint[] {
  return [
    {
      provider: 'cohere',
      upstreamModel,
      contextLength,
      maxOutputTokens,
      supportedParameters: PARAMETERS,
      inputModalities: ['text'],
      reasoningEfforts: [],
      isReasoning: false,
      hidesReasoning: false,
      prices,
      quantization: null,
      dataPolicy: POLICY_NOT_KNOWN,
    },
  ];
}

export const COHERE_CHAT_MODELS: readonly ChatModel[] = [
  {
    id: 'cohere/command-a',
    canonicalSlug: 'cohere/command-a-03-2025',
    name: 'Cohere: Command A',
    description: 'Large model for tools, retrieval and many languages.',
    createdAt: '2025-03-13',
    contextLength: 256_000,
    tokenizer: null,
    endpoints: cohere(
      'command-a-03-2025',
      256_000,
      8_000,
      listedChatPrices({ prompt: '2.5', completion: '10' }, LITELLM_PRICES),
    ),
  },
  {
    id: 'cohere/command-r-08-2024',
    name: 'Cohere: Command R 08-2024',
    description: 'Model for retrieval and tools in many languages.',
    createdAt: '2024-08-30',
    contextLength: 128_000,
    tokenizer: null,
    endpoints: cohere(
      'command-r-08-2024',
      128_000,
      4_096,
      listedChatPrices({ prompt: '0.15', completion: '0.6' }),
    ),
  },
  {
    id: 'cohere/command-r7b-12-2024',
    name: 'Cohere: Command R7B 12-2024',
    description: 'Small model for retrieval and tools.',
    createdAt: '2024-12-13',
    contextLength: 128_000,
    tokenizer: null,
    endpoints: cohere(
      'command-r7b-12-2024',
      128_000,
      4_096,
      listedChatPrices({ prompt: '0.0375', completion: '0.15' }),
    ),
  },
];
