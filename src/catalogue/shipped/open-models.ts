// Models with open weights at commercial providers: Together and DeepInfra. Sources: the models' own cards (widths,
// lengths), Together's OpenAPI document of 2026-04, DeepInfra's model pages.
import { POLICY_NOT_KNOWN, listedAt } from './facts.js';
import type { ModelEndpoint, CatalogueModel } from '../catalogue-model.js';

// Together does not state it. The limits of all clients that were read are higher.
const MAX_INPUTS_AT_TOGETHER = 128;
const MAX_INPUTS_AT_DEEPINFRA = 1024;
const QWEN3_CONTEXT = 32_768;

interface Served {
  readonly upstreamModel: string;
  readonly usd: string;
  readonly maxTokensPerInput: number;
  readonly takesDimensions?: boolean;
}

function serve(provider: string, maxInputsPerCall: number, served: Served): ModelEndpoint {
  return {
    provider,
    upstreamModel: served.upstreamModel,
    inputForms: ['texts'],
    modalities: ['text'],
    takesDimensions: served.takesDimensions ?? false,
    maxInputsPerCall,
    maxTokensPerInput: served.maxTokensPerInput,
    prices: listedAt(served.usd),
    quantization: null,
    dataPolicy: POLICY_NOT_KNOWN,
  };
}

const together = (served: Served): ModelEndpoint => serve('together', MAX_INPUTS_AT_TOGETHER, served);
const deepinfra = (served: Served): ModelEndpoint => serve('deepinfra', MAX_INPUTS_AT_DEEPINFRA, served);

function qwen3(size: string, width: number, usd: string): CatalogueModel {
  return {
    id: `qwen/qwen3-embedding-${size.toLowerCase()}`,
    name: `Qwen: Qwen3 Embedding ${size}`,
    description: 'Multilingual embeddings of text and code whose vectors may be shortened.',
    createdAt: '2025-06-05',
    nativeDimensions: width,
    otherDimensions: { least: 32, most: width - 1 },
    contextLength: QWEN3_CONTEXT,
    endpoints: [
      // DeepInfra's page once listed 0.002 USD for 0.6B; every list of 2026 has 0.01.
      deepinfra({
        upstreamModel: `Qwen/Qwen3-Embedding-${size}`,
        usd,
        maxTokensPerInput: QWEN3_CONTEXT,
        takesDimensions: true,
      }),
    ],
  };
}

export const OPEN_MODELS: readonly CatalogueModel[] = [
  {
    id: 'baai/bge-base-en-v1.5',
    name: 'BAAI: BGE Base English v1.5',
    description: 'English text embeddings of one fixed width.',
    createdAt: '2023-09-12',
    nativeDimensions: 768,
    otherDimensions: null,
    contextLength: 512,
    endpoints: [
      together({ upstreamModel: 'BAAI/bge-base-en-v1.5', usd: '0.008', maxTokensPerInput: 512 }),
      deepinfra({ upstreamModel: 'BAAI/bge-base-en-v1.5', usd: '0.005', maxTokensPerInput: 512 }),
    ],
  },
  {
    id: 'baai/bge-large-en-v1.5',
    name: 'BAAI: BGE Large English v1.5',
    description: 'Larger English text embeddings of one fixed width.',
    createdAt: '2023-09-12',
    nativeDimensions: 1024,
    otherDimensions: null,
    contextLength: 512,
    endpoints: [
      together({ upstreamModel: 'BAAI/bge-large-en-v1.5', usd: '0.016', maxTokensPerInput: 512 }),
      deepinfra({ upstreamModel: 'BAAI/bge-large-en-v1.5', usd: '0.010', maxTokensPerInput: 512 }),
    ],
  },
  {
    id: 'baai/bge-m3',
    name: 'BAAI: BGE M3',
    description: 'Multilingual embeddings of short and long texts.',
    createdAt: '2024-01-27',
    nativeDimensions: 1024,
    otherDimensions: null,
    contextLength: 8192,
    endpoints: [deepinfra({ upstreamModel: 'BAAI/bge-m3', usd: '0.010', maxTokensPerInput: 8192 })],
  },
  {
    id: 'intfloat/multilingual-e5-large-instruct',
    name: 'Intfloat: Multilingual E5 Large Instruct',
    description: 'Multilingual embeddings of texts that begin with an instruction.',
    createdAt: '2024-02-08',
    nativeDimensions: 1024,
    otherDimensions: null,
    contextLength: 512,
    endpoints: [
      together({
        upstreamModel: 'intfloat/multilingual-e5-large-instruct',
        usd: '0.02',
        maxTokensPerInput: 512,
      }),
      deepinfra({
        upstreamModel: 'intfloat/multilingual-e5-large-instruct',
        usd: '0.010',
        maxTokensPerInput: 512,
      }),
    ],
  },
  qwen3('0.6B', 1024, '0.010'),
  qwen3('4B', 2560, '0.020'),
  qwen3('8B', 4096, '0.010'),
];
