// OpenAI's chat models, served by OpenAI and by Azure. Azure's upstream model is a deployment name: here the model's name,
// which Azure proposes. Azure's prices are those of global deployments; regions and data zones cost more. Service tiers are
// OpenAI's only.
import type { ChatEndpoint, ChatModel, DatedChatPrices } from '../../../domain/chat/chat-model.js';
import { KEPT_NOT_TRAINED_ON } from '../facts.js';
import {
  chatPrices,
  FORMAT_PARAMETERS,
  listedChatPrices,
  OUTPUT_LIMITS,
  PENALTY_PARAMETERS,
  REASONING_PARAMETERS,
  SAMPLING_PARAMETERS,
  TOOL_PARAMETERS,
} from './facts.js';
import type { ListedPrices } from './facts.js';

interface OpenAiModel {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly createdAt: string;
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  readonly prices: ListedPrices;
  /** Lists of Azure's prices differ by rounding to cents: the higher price. Absent: OpenAI's. */
  readonly azureCacheRead?: string;
  readonly serviceTiers?: Readonly<Record<string, ListedPrices>>;
  /** Absent: no reasoning model. */
  readonly efforts?: readonly string[];
  readonly images: Pick<ChatEndpoint, 'maxTokensPerImage' | 'tokensPerImage'>;
  /** `parallel_tool_calls` is refused with 400. */
  readonly refusesParallelCalls?: true;
  /** Parameters beside those of every model of its kind. */
  readonly parameters?: readonly string[];
}

const COMMON = [...OUTPUT_LIMITS, ...TOOL_PARAMETERS, ...FORMAT_PARAMETERS, 'seed', 'prompt_cache_key'];
const SAMPLING = [
  ...SAMPLING_PARAMETERS,
  ...PENALTY_PARAMETERS,
  'n',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'prediction',
];

const AZURE_CACHE_PRICES =
  'Portkey and its pull request 751, models.dev, genai-prices, read 2026-11-27: the highest price of the cached part';

// Upper bounds of OpenAI's guide to images: 85 tokens and 170 for each of at most 8 tiles; the same times 33.3; 1,536
// patches times a multiplier of at most 2.46, whatever the detail. Typical is an image of 1,024 pixels square: 4 tiles, or
// 1,024 patches times a multiplier of 1.62.
const BY_TILES = {
  maxTokensPerImage: { low: 85, high: 1_445 },
  tokensPerImage: { low: 85, high: 765 },
};
const BY_TILES_OF_4O_MINI = {
  maxTokensPerImage: { low: 2_833, high: 48_169 },
  tokensPerImage: { low: 2_833, high: 25_501 },
};
const BY_PATCHES = {
  maxTokensPerImage: { low: 3_779, high: 3_779 },
  tokensPerImage: { low: 1_659, high: 1_659 },
};

// Files: OpenAI takes PDFs for its models with vision, and puts the text and an image of every page into the prompt (its guide
// to file inputs, read 2026-11-28). Azure takes them in its responses API only. The bytes of a PDF do not bound its tokens: its
// streams are compressed, by up to 1,032 to 1 (zlib's technical details). A file without a rate is bounded by the context.

function openAi(model: OpenAiModel): ChatModel {
  const { slug, efforts, azureCacheRead, serviceTiers = {} } = model;
  const own = efforts ? REASONING_PARAMETERS : SAMPLING;
  const parallel = model.refusesParallelCalls ? [] : ['parallel_tool_calls'];
  const parameters = [...new Set([...COMMON, ...parallel, ...own, ...(model.parameters ?? [])])];
  const rows = listedChatPrices(model.prices);
  const azureRows =
    azureCacheRead === undefined
      ? rows
      : listedChatPrices({ ...model.prices, cacheRead: azureCacheRead }, AZURE_CACHE_PRICES);
  const endpoint = (provider: string, prices: readonly DatedChatPrices[]): ChatEndpoint => ({
    provider,
    upstreamModel: slug,
    contextLength: model.contextLength,
    maxOutputTokens: model.maxOutputTokens,
    supportedParameters: provider === 'openai' ? [...parameters, 'service_tier'] : parameters,
    inputModalities: provider === 'openai' ? ['text', 'image', 'file'] : ['text', 'image'],
    reasoningEfforts: efforts ?? [],
    isReasoning: efforts !== undefined,
    hidesReasoning: efforts !== undefined,
    prices,
    ...model.images,
    quantization: null,
    dataPolicy: KEPT_NOT_TRAINED_ON,
  });
  const tiers = Object.fromEntries(
    Object.entries(serviceTiers).map(([name, listed]) => [name, chatPrices(listed)]),
  );
  const withTiers = rows.map((row) => Object.assign({ serviceTiers: tiers }, row));
  return {
    id: `openai/${slug}`,
    name: `OpenAI: ${model.title}`,
    description: model.description,
    createdAt: model.createdAt,
    contextLength: model.contextLength,
    tokenizer: 'o200k',
    endpoints: [endpoint('openai', withTiers), endpoint('azure', azureRows)],
  };
}

export const OPENAI_CHAT_MODELS: readonly ChatModel[] = [
  openAi({
    slug: 'gpt-4.1',
    title: 'GPT-4.1',
    description: 'Large model for instructions, code and long contexts, without reasoning.',
    createdAt: '2025-04-14',
    contextLength: 1_047_576,
    maxOutputTokens: 32_768,
    prices: { prompt: '2', completion: '8', cacheRead: '0.5' },
    serviceTiers: { priority: { prompt: '3.5', completion: '14', cacheRead: '0.875' } },
    images: BY_TILES,
  }),
  openAi({
    slug: 'gpt-4.1-mini',
    title: 'GPT-4.1 Mini',
    description: 'Middle of the GPT-4.1 series: fast, for long contexts, without reasoning.',
    createdAt: '2025-04-14',
    contextLength: 1_047_576,
    maxOutputTokens: 32_768,
    prices: { prompt: '0.4', completion: '1.6', cacheRead: '0.1' },
    serviceTiers: { priority: { prompt: '0.7', completion: '2.8', cacheRead: '0.175' } },
    images: BY_PATCHES,
  }),
  openAi({
    slug: 'gpt-4.1-nano',
    title: 'GPT-4.1 Nano',
    description: 'Smallest of the GPT-4.1 series, for classification and completion.',
    createdAt: '2025-04-14',
    contextLength: 1_047_576,
    maxOutputTokens: 32_768,
    prices: { prompt: '0.1', completion: '0.4', cacheRead: '0.025' },
    azureCacheRead: '0.03',
    serviceTiers: { priority: { prompt: '0.2', completion: '0.8', cacheRead: '0.05' } },
    images: BY_PATCHES,
  }),
  openAi({
    slug: 'gpt-4o',
    title: 'GPT-4o',
    description: 'General-purpose model for text and images, without reasoning.',
    createdAt: '2024-05-13',
    contextLength: 128_000,
    maxOutputTokens: 16_384,
    prices: { prompt: '2.5', completion: '10', cacheRead: '1.25' },
    serviceTiers: { priority: { prompt: '4.25', completion: '17', cacheRead: '2.125' } },
    images: BY_TILES,
  }),
  openAi({
    slug: 'gpt-4o-mini',
    title: 'GPT-4o Mini',
    description: 'Small general-purpose model for text and images, without reasoning.',
    createdAt: '2024-07-18',
    contextLength: 128_000,
    maxOutputTokens: 16_384,
    prices: { prompt: '0.15', completion: '0.6', cacheRead: '0.075' },
    serviceTiers: { priority: { prompt: '0.25', completion: '1', cacheRead: '0.125' } },
    images: BY_TILES_OF_4O_MINI,
  }),
  openAi({
    slug: 'o3',
    title: 'o3',
    description: 'Reasoning model for mathematics, science and code.',
    createdAt: '2025-04-16',
    contextLength: 200_000,
    maxOutputTokens: 100_000,
    prices: { prompt: '2', completion: '8', cacheRead: '0.5' },
    serviceTiers: {
      flex: { prompt: '1', completion: '4', cacheRead: '0.25' },
      priority: { prompt: '3.5', completion: '14', cacheRead: '0.875' },
    },
    efforts: ['low', 'medium', 'high'],
    images: BY_TILES,
    refusesParallelCalls: true,
  }),
  openAi({
    slug: 'o4-mini',
    title: 'o4 Mini',
    description: 'Small reasoning model for mathematics, code and images.',
    createdAt: '2025-04-16',
    contextLength: 200_000,
    maxOutputTokens: 100_000,
    prices: { prompt: '1.1', completion: '4.4', cacheRead: '0.275' },
    azureCacheRead: '0.28',
    serviceTiers: {
      flex: { prompt: '0.55', completion: '2.2', cacheRead: '0.138' },
      priority: { prompt: '2', completion: '8', cacheRead: '0.5' },
    },
    efforts: ['low', 'medium', 'high'],
    images: BY_PATCHES,
    refusesParallelCalls: true,
  }),
  openAi({
    slug: 'gpt-5',
    title: 'GPT-5',
    description: 'Reasoning model for code and agents.',
    createdAt: '2025-08-07',
    contextLength: 400_000,
    maxOutputTokens: 128_000,
    prices: { prompt: '1.25', completion: '10', cacheRead: '0.125' },
    azureCacheRead: '0.13',
    serviceTiers: {
      flex: { prompt: '0.625', completion: '5', cacheRead: '0.0625' },
      priority: { prompt: '2.5', completion: '20', cacheRead: '0.25' },
    },
    efforts: ['minimal', 'low', 'medium', 'high'],
    images: BY_PATCHES,
    parameters: ['verbosity'],
  }),
  openAi({
    slug: 'gpt-5-mini',
    title: 'GPT-5 Mini',
    description: 'Middle of the GPT-5 series, for well-defined tasks.',
    createdAt: '2025-08-07',
    contextLength: 400_000,
    maxOutputTokens: 128_000,
    prices: { prompt: '0.25', completion: '2', cacheRead: '0.025' },
    azureCacheRead: '0.03',
    serviceTiers: {
      flex: { prompt: '0.125', completion: '1', cacheRead: '0.0125' },
      priority: { prompt: '0.45', completion: '3.6', cacheRead: '0.045' },
    },
    efforts: ['minimal', 'low', 'medium', 'high'],
    images: BY_PATCHES,
    parameters: ['verbosity'],
  }),
  openAi({
    slug: 'gpt-5-nano',
    title: 'GPT-5 Nano',
    description: 'Smallest of the GPT-5 series, for speed and cost.',
    createdAt: '2025-08-07',
    contextLength: 400_000,
    maxOutputTokens: 128_000,
    prices: { prompt: '0.05', completion: '0.4', cacheRead: '0.005' },
    azureCacheRead: '0.01',
    serviceTiers: { flex: { prompt: '0.025', completion: '0.2', cacheRead: '0.0025' } },
    efforts: ['minimal', 'low', 'medium', 'high'],
    images: BY_PATCHES,
    parameters: ['verbosity'],
  }),
  openAi({
    slug: 'gpt-5.1',
    title: 'GPT-5.1',
    description: 'Reasoning model for code and agents; its reasoning can be switched off.',
    createdAt: '2025-11-13',
    contextLength: 400_000,
    maxOutputTokens: 128_000,
    prices: { prompt: '1.25', completion: '10', cacheRead: '0.125' },
    azureCacheRead: '0.13',
    serviceTiers: {
      flex: { prompt: '0.625', completion: '5', cacheRead: '0.0625' },
      priority: { prompt: '2.5', completion: '20', cacheRead: '0.25' },
    },
    efforts: ['none', 'low', 'medium', 'high'],
    images: BY_PATCHES,
    parameters: ['verbosity'],
  }),
  openAi({
    slug: 'gpt-5.2',
    title: 'GPT-5.2',
    description: 'Reasoning model for professional work and long-running agents.',
    createdAt: '2025-12-11',
    contextLength: 400_000,
    maxOutputTokens: 128_000,
    prices: { prompt: '1.75', completion: '14', cacheRead: '0.175' },
    azureCacheRead: '0.18',
    serviceTiers: {
      flex: { prompt: '0.875', completion: '7', cacheRead: '0.0875' },
      priority: { prompt: '3.5', completion: '28', cacheRead: '0.35' },
    },
    efforts: ['none', 'low', 'medium', 'high', 'xhigh'],
    images: BY_PATCHES,
    parameters: ['verbosity'],
  }),
];
