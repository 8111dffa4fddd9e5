// Google's chat models at the Gemini API. Thoughts are billed as output and not part of the answer.
import type { ChatEndpoint, ChatModality, ChatModel } from '../../../domain/chat/chat-model.js';
import { KEPT_NOT_TRAINED_ON } from '../facts.js';
import {
  chatPrices,
  FORMAT_PARAMETERS,
  LITELLM_PRICES,
  OUTPUT_LIMITS,
  REASONING_PARAMETERS,
  TOOL_PARAMETERS,
} from './facts.js';
import type { ListedPrices } from './facts.js';

interface GeminiModel {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly createdAt: string;
  readonly maxOutputTokens: number;
  readonly prices: ListedPrices;
  /** Above 200,000 tokens of the prompt. */
  readonly longPrompt?: ListedPrices;
  readonly efforts: readonly string[];
  readonly images: Pick<ChatEndpoint, 'maxTokensPerImage' | 'tokensPerImage'>;
}

const PARAMETERS = [
  ...OUTPUT_LIMITS,
  ...TOOL_PARAMETERS,
  ...FORMAT_PARAMETERS,
  ...REASONING_PARAMETERS,
  'temperature',
  'top_p',
  'stop',
];
const MODALITIES: readonly ChatModality[] = ['text', 'image', 'audio'];
// Google's guide to tokens: 32 a second.
const TOKENS_PER_AUDIO_SECOND = 32;
// The same guide: 258 for each tile of 768 pixels, and no maximum of tiles. Typical is an image of 4 tiles.
const BY_TILES = { tokensPerImage: { low: 258, high: 1_032 } };
// Google's guide to the resolution of media: 1,120 by default, and at most 2,240.
const BY_RESOLUTION = {
  tokensPerImage: { low: 1_120, high: 1_120 },
  maxTokensPerImage: { low: 2_240, high: 2_240 },
};

function gemini(model: GeminiModel): ChatModel {
  const { slug, longPrompt } = model;
  const tiers = longPrompt && [{ minPromptTokens: 200_000, ...chatPrices(longPrompt) }];
  return {
    id: `google/${slug}`,
    name: `Google: ${model.title}`,
    description: model.description,
    createdAt: model.createdAt,
    contextLength: 1_048_576,
    tokenizer: null,
    endpoints: [
      {
        provider: 'google',
        upstreamModel: slug,
        contextLength: 1_048_576,
        maxOutputTokens: model.maxOutputTokens,
        supportedParameters: PARAMETERS,
        inputModalities: MODALITIES,
        reasoningEfforts: model.efforts,
        isReasoning: true,
        hidesReasoning: true,
        prices: [
          {
            effectiveFrom: '2026-08-21',
            source: LITELLM_PRICES,
            ...chatPrices(model.prices),
            ...(tiers && { tiers }),
          },
        ],
        ...model.images,
        maxTokensPerAudioSecond: TOKENS_PER_AUDIO_SECOND,
        quantization: null,
        dataPolicy: KEPT_NOT_TRAINED_ON,
      },
    ],
  };
}

export const GOOGLE_CHAT_MODELS: readonly ChatModel[] = [
  gemini({
    slug: 'gemini-2.5-pro',
    title: 'Gemini 2.5 Pro',
    description: 'Reasoning model for mathematics, science, code and long contexts.',
    createdAt: '2025-06-17',
    maxOutputTokens: 65_535,
    prices: { prompt: '1.25', completion: '10', cacheRead: '0.125' },
    longPrompt: { prompt: '2.5', completion: '15', cacheRead: '0.25' },
    efforts: ['low', 'medium', 'high'],
    images: BY_TILES,
  }),
  gemini({
    slug: 'gemini-2.5-flash',
    title: 'Gemini 2.5 Flash',
    description: 'Fast reasoning model; its reasoning can be switched off.',
    createdAt: '2025-06-17',
    maxOutputTokens: 65_535,
    prices: {
      prompt: '0.3',
      completion: '2.5',
      cacheRead: '0.03',
      audioInput: '1',
      audioInputCached: '0.1',
    },
    efforts: ['none', 'low', 'medium', 'high'],
    images: BY_TILES,
  }),
  gemini({
    slug: 'gemini-2.5-flash-lite',
    title: 'Gemini 2.5 Flash Lite',
    description: 'The smallest of the 2.5 series, for speed and cost.',
    createdAt: '2025-07-22',
    maxOutputTokens: 65_535,
    prices: {
      prompt: '0.1',
      completion: '0.4',
      cacheRead: '0.01',
      audioInput: '0.3',
      audioInputCached: '0.03',
    },
    efforts: ['none', 'low', 'medium', 'high'],
    images: BY_TILES,
  }),
  gemini({
    slug: 'gemini-3-flash-preview',
    title: 'Gemini 3 Flash Preview',
    description: 'Fast reasoning model for agents, chat and code.',
    createdAt: '2025-12-17',
    maxOutputTokens: 65_535,
    prices: {
      prompt: '0.5',
      completion: '3',
      cacheRead: '0.05',
      audioInput: '1',
      audioInputCached: '0.1',
    },
    efforts: ['minimal', 'low', 'medium', 'high'],
    images: BY_RESOLUTION,
  }),
  gemini({
    slug: 'gemini-3.1-pro-preview',
    title: 'Gemini 3.1 Pro Preview',
    description: 'Reasoning model for agents, code and long contexts.',
    createdAt: '2026-02-19',
    maxOutputTokens: 65_536,
    prices: { prompt: '2', completion: '12', cacheRead: '0.2' },
    longPrompt: { prompt: '4', completion: '18', cacheRead: '0.4' },
    efforts: ['low', 'medium', 'high'],
    images: BY_RESOLUTION,
  }),
  gemini({
    slug: 'gemini-3.1-flash-lite',
    title: 'Gemini 3.1 Flash Lite',
    description: 'Small reasoning model for large volumes.',
    createdAt: '2026-05-07',
    maxOutputTokens: 65_536,
    prices: {
      prompt: '0.25',
      completion: '1.5',
      cacheRead: '0.025',
      audioInput: '0.5',
      audioInputCached: '0.05',
    },
    efforts: ['minimal', 'low', 'medium', 'high'],
    images: BY_RESOLUTION,
  }),
];
