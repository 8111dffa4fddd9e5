// The shipped models, with the embedded ones first.
import type { ChatModel } from '../domain/chat/chat-model.js';
import type { CatalogueModel } from './catalogue-model.js';
import { SHIPPED_CHAT_MODELS } from './shipped/chat/index.js';
import { SHIPPED_MODELS } from './shipped/index.js';

export const MODELS: readonly CatalogueModel[] = [
  {
    id: 'local/hashing',
    createdAt: '2026-11-21',
    name: 'Local: feature hashing',
    description:
      'Embedded in this service: signed feature hashing of words and character n-grams. It measures wording, not ' +
      'meaning; switch to a trained model, openai/text-embedding-3-small for example, for anything semantic.',
    nativeDimensions: 1024,
    otherDimensions: { least: 8, most: 4096 },
    contextLength: 1_000_000,
    endpoints: [
      {
        provider: 'local',
        upstreamModel: 'hashing',
        inputForms: ['texts', 'tokens', 'multimodal'],
        modalities: ['text'],
        quantization: null,
        dataPolicy: { retainsPrompts: false, trains: false },
        takesDimensions: true,
        maxInputsPerCall: 100_000,
        maxTokensPerInput: 1_000_000,
        prices: [{ effectiveFrom: '2026-01-01', perToken: 0n, source: 'runs inside this service' }],
      },
    ],
  },
  ...SHIPPED_MODELS,
];

export const CHAT_MODELS: readonly ChatModel[] = [
  {
    id: 'local/echo',
    createdAt: '2026-11-27',
    name: 'Local: echo',
    description:
      'Embedded in this service: no language model, it repeats the last message of the user word by word. It shows that ' +
      'streams, limits and traces work before a provider is configured.',
    contextLength: 1_000_000,
    tokenizer: null,
    endpoints: [
      {
        provider: 'local',
        upstreamModel: 'echo',
        contextLength: 1_000_000,
        maxOutputTokens: 32_768,
        supportedParameters: ['max_tokens', 'max_completion_tokens'],
        inputModalities: ['text'],
        reasoningEfforts: [],
        isReasoning: false,
        hidesReasoning: false,
        prices: [
          { effectiveFrom: '2026-01-01', prompt: 0n, completion: 0n, source: 'runs inside this service' },
        ],
        quantization: null,
        dataPolicy: { retainsPrompts: false, trains: false },
      },
    ],
  },
  ...SHIPPED_CHAT_MODELS,
];
