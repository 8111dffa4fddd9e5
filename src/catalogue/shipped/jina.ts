// Jina AI's models. Sources: its model pages; 512 inputs per call of v4 by its own error message (dify plugins #1997 on
// GitHub). The widths of v3 and v4 are those of their training.
import { INPUT_TYPES } from '../../domain/embeddings/input-type.js';
import { POLICY_NOT_KNOWN, RETRIEVAL_TYPES, UNPRICED, listedAt } from './facts.js';
import type { ModelEndpoint, CatalogueModel } from '../catalogue-model.js';

type Settings = Pick<ModelEndpoint, 'upstreamModel' | 'prices'> & Partial<ModelEndpoint>;

function jina(settings: Settings): ModelEndpoint {
  return {
    provider: 'jina',
    inputForms: ['texts'],
    modalities: ['text'],
    takesDimensions: true,
    maxInputsPerCall: 2048,
    maxTokensPerInput: 8192,
    quantization: null,
    dataPolicy: POLICY_NOT_KNOWN,
    ...settings,
  };
}

export const JINA_MODELS: readonly CatalogueModel[] = [
  {
    id: 'jinaai/jina-embeddings-v2-base-en',
    name: 'Jina AI: Embeddings v2 Base English',
    description: 'English text embeddings of one fixed width.',
    createdAt: '2023-10-25',
    nativeDimensions: 768,
    otherDimensions: null,
    contextLength: 8192,
    endpoints: [
      jina({
        upstreamModel: 'jina-embeddings-v2-base-en',
        takesDimensions: false,
        prices: listedAt('0.02'),
      }),
    ],
  },
  {
    id: 'jinaai/jina-embeddings-v3',
    name: 'Jina AI: Embeddings v3',
    description: 'Multilingual text embeddings with an adapter for every kind of task.',
    createdAt: '2024-09-18',
    nativeDimensions: 1024,
    otherDimensions: [32, 64, 128, 256, 512, 768],
    contextLength: 8192,
    endpoints: [jina({ upstreamModel: 'jina-embeddings-v3', inputTypes: INPUT_TYPES, prices: UNPRICED })],
  },
  {
    id: 'jinaai/jina-embeddings-v4',
    name: 'Jina AI: Embeddings v4',
    description: 'Multilingual embeddings of text, images and pages.',
    createdAt: '2025-06-24',
    nativeDimensions: 2048,
    otherDimensions: [128, 256, 512, 1024],
    contextLength: 32_768,
    endpoints: [
      jina({
        upstreamModel: 'jina-embeddings-v4',
        inputForms: ['texts', 'multimodal'],
        modalities: ['text', 'image'],
        inputTypes: [...RETRIEVAL_TYPES, 'semantic_similarity'],
        maxInputsPerCall: 512,
        maxTokensPerInput: 32_768,
        prices: UNPRICED,
      }),
    ],
  },
];
