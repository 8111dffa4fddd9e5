// Chat models with open weights at Together and DeepInfra. Context lengths: the models' own cards, and Together's catalogue
// of chat models.
import type { ChatModel } from '../../../domain/chat/chat-model.js';
import { LITELLM_PRICES } from './facts.js';
import { openModel } from './open-model.js';

export const OPEN_CHAT_MODELS: readonly ChatModel[] = [
  openModel({
    id: 'meta-llama/llama-3.3-70b-instruct',
    name: 'Meta: Llama 3.3 70B Instruct',
    description: 'Multilingual text model of 70 billion parameters.',
    createdAt: '2024-12-06',
    contextLength: 131_072,
    hasTools: true,
    served: [
      {
        by: 'together',
        upstreamModel: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
        prices: { prompt: '0.88', completion: '0.88' },
      },
      {
        by: 'deepinfra',
        upstreamModel: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
        prices: { prompt: '0.1', completion: '0.32' },
      },
    ],
  }),
  openModel({
    id: 'meta-llama/llama-4-maverick',
    name: 'Meta: Llama 4 Maverick',
    description: 'Mixture of 128 experts for text and images.',
    createdAt: '2025-04-05',
    contextLength: 1_048_576,
    hasTools: true,
    takesImages: true,
    served: [
      {
        by: 'together',
        upstreamModel: 'meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8',
        prices: { prompt: '0.27', completion: '0.85' },
        contextLength: 524_288,
      },
      {
        by: 'deepinfra',
        upstreamModel: 'meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8',
        prices: { prompt: '0.15', completion: '0.6' },
        lacksTools: true,
      },
    ],
  }),
  openModel({
    id: 'openai/gpt-oss-120b',
    name: 'OpenAI: gpt-oss-120b',
    description: 'Reasoning model with open weights.',
    createdAt: '2025-08-05',
    contextLength: 131_072,
    hasTools: true,
    efforts: ['low', 'medium', 'high'],
    served: [
      {
        by: 'together',
        upstreamModel: 'openai/gpt-oss-120b',
        prices: { prompt: '0.15', completion: '0.6' },
        contextLength: 128_000,
      },
      {
        by: 'deepinfra',
        upstreamModel: 'openai/gpt-oss-120b',
        prices: { prompt: '0.039', completion: '0.19' },
      },
    ],
  }),
  openModel({
    id: 'openai/gpt-oss-20b',
    name: 'OpenAI: gpt-oss-20b',
    description: 'Small reasoning model with open weights.',
    createdAt: '2025-08-05',
    contextLength: 131_072,
    hasTools: true,
    efforts: ['low', 'medium', 'high'],
    served: [
      {
        by: 'together',
        upstreamModel: 'openai/gpt-oss-20b',
        prices: { prompt: '0.05', completion: '0.2' },
        contextLength: 128_000,
      },
      {
        by: 'deepinfra',
        upstreamModel: 'openai/gpt-oss-20b',
        prices: { prompt: '0.03', completion: '0.14' },
      },
    ],
  }),
  openModel({
    id: 'qwen/qwen3-235b-a22b-2507',
    name: 'Qwen: Qwen3 235B A22B Instruct 2507',
    description: 'Mixture of experts for instructions and long contexts, without reasoning.',
    createdAt: '2025-07-21',
    contextLength: 262_144,
    hasTools: true,
    served: [
      {
        by: 'together',
        upstreamModel: 'Qwen/Qwen3-235B-A22B-Instruct-2507-tput',
        prices: { prompt: '0.2', completion: '0.6' },
      },
      {
        by: 'deepinfra',
        upstreamModel: 'Qwen/Qwen3-235B-A22B-Instruct-2507',
        prices: { prompt: '0.09', completion: '0.6' },
        source: LITELLM_PRICES,
      },
    ],
  }),
  openModel({
    id: 'qwen/qwen3-coder',
    name: 'Qwen: Qwen3 Coder 480B A35B',
    description: 'Mixture of experts for code and agents.',
    createdAt: '2025-07-23',
    contextLength: 262_144,
    hasTools: true,
    served: [
      {
        by: 'together',
        upstreamModel: 'Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8',
        prices: { prompt: '2', completion: '2' },
        contextLength: 256_000,
      },
      {
        by: 'deepinfra',
        upstreamModel: 'Qwen/Qwen3-Coder-480B-A35B-Instruct',
        prices: { prompt: '0.4', completion: '1.6' },
      },
    ],
  }),
  openModel({
    id: 'qwen/qwen3-32b',
    name: 'Qwen: Qwen3 32B',
    description: 'Text model whose reasoning can be switched off.',
    createdAt: '2025-04-28',
    contextLength: 40_960,
    hasTools: true,
    efforts: ['none'],
    served: [
      { by: 'deepinfra', upstreamModel: 'Qwen/Qwen3-32B', prices: { prompt: '0.08', completion: '0.28' } },
    ],
  }),
  openModel({
    id: 'deepseek/deepseek-chat-v3.1',
    name: 'DeepSeek: DeepSeek V3.1',
    description: 'Mixture of experts whose reasoning can be switched on.',
    createdAt: '2025-08-21',
    contextLength: 163_840,
    hasTools: true,
    isReasoning: true,
    served: [
      {
        by: 'together',
        upstreamModel: 'deepseek-ai/DeepSeek-V3.1',
        prices: { prompt: '0.6', completion: '1.7' },
        contextLength: 128_000,
      },
      {
        by: 'deepinfra',
        upstreamModel: 'deepseek-ai/DeepSeek-V3.1',
        prices: { prompt: '0.27', completion: '1', cacheRead: '0.216' },
        source: LITELLM_PRICES,
      },
    ],
  }),
  openModel({
    id: 'deepseek/deepseek-r1-0528',
    name: 'DeepSeek: R1 0528',
    description: 'Reasoning model with open weights.',
    createdAt: '2025-05-28',
    contextLength: 163_840,
    hasTools: true,
    isReasoning: true,
    served: [
      {
        by: 'deepinfra',
        upstreamModel: 'deepseek-ai/DeepSeek-R1-0528',
        prices: { prompt: '0.5', completion: '2.15', cacheRead: '0.4' },
      },
    ],
  }),
  openModel({
    id: 'moonshotai/kimi-k2-0905',
    name: 'MoonshotAI: Kimi K2 0905',
    description: 'Mixture of experts for agents and code.',
    createdAt: '2025-09-04',
    contextLength: 262_144,
    hasTools: true,
    served: [
      {
        by: 'together',
        upstreamModel: 'moonshotai/Kimi-K2-Instruct-0905',
        prices: { prompt: '1', completion: '3' },
      },
      {
        by: 'deepinfra',
        upstreamModel: 'moonshotai/Kimi-K2-Instruct-0905',
        prices: { prompt: '0.4', completion: '2' },
      },
    ],
  }),
  openModel({
    id: 'moonshotai/kimi-k2-thinking',
    name: 'MoonshotAI: Kimi K2 Thinking',
    description: 'Reasoning model for agents with many steps.',
    createdAt: '2025-11-06',
    contextLength: 262_144,
    hasTools: true,
    isReasoning: true,
    served: [
      {
        by: 'together',
        upstreamModel: 'moonshotai/Kimi-K2-Thinking',
        prices: { prompt: '1.2', completion: '4' },
      },
      {
        by: 'deepinfra',
        upstreamModel: 'moonshotai/Kimi-K2-Thinking',
        prices: { prompt: '0.47', completion: '2', cacheRead: '0.141' },
        contextLength: 131_072,
      },
    ],
  }),
  openModel({
    id: 'z-ai/glm-4.6',
    name: 'Z.AI: GLM 4.6',
    description: 'Mixture of experts for code, agents and reasoning.',
    createdAt: '2025-09-30',
    contextLength: 202_752,
    hasTools: true,
    efforts: ['none'],
    served: [
      {
        by: 'deepinfra',
        upstreamModel: 'zai-org/GLM-4.6',
        prices: { prompt: '0.43', completion: '1.74', cacheRead: '0.08' },
      },
    ],
  }),
  openModel({
    id: 'google/gemma-3-27b-it',
    name: 'Google: Gemma 3 27B',
    description: 'Multilingual model with open weights for text and images.',
    createdAt: '2025-03-12',
    contextLength: 131_072,
    takesImages: true,
    served: [
      {
        by: 'deepinfra',
        upstreamModel: 'google/gemma-3-27b-it',
        prices: { prompt: '0.09', completion: '0.16' },
        source: LITELLM_PRICES,
      },
    ],
  }),
];
