// Mistral's models. Sources: its documentation; 256 inputs per call by a test of rig-core against the live API; 16,384
// tokens per call by Mistral's own error message (semantic-router #297 on GitHub).
import { KEPT_NOT_TRAINED_ON, listedAt } from './facts.js';
import type { ModelEndpoint, CatalogueModel } from '../catalogue-model.js';

function mistral(upstreamModel: string, takesDimensions: boolean, usd: string): ModelEndpoint {
  return {
    provider: 'mistral',
    upstreamModel,
    inputForms: ['texts'],
    modalities: ['text'],
    takesDimensions,
    maxInputsPerCall: 256,
    maxTokensPerInput: 8192,
    maxTokensPerCall: 16_384,
    prices: listedAt(usd),
    quantization: null,
    dataPolicy: KEPT_NOT_TRAINED_ON,
  };
}

export const MISTRAL_MODELS: readonly CatalogueModel[] = [
  {
    id: 'mistralai/mistral-embed',
    canonicalSlug: 'mistralai/mistral-embed-2312',
    name: 'Mistral: Mistral Embed',
    description: 'General-purpose text embeddings of one fixed width.',
    createdAt: '2023-12-11',
    nativeDimensions: 1024,
    otherDimensions: null,
    contextLength: 8192,
    endpoints: [mistral('mistral-embed', false, '0.10')],
  },
  {
    id: 'mistralai/codestral-embed',
    canonicalSlug: 'mistralai/codestral-embed-2505',
    name: 'Mistral: Codestral Embed',
    description:
      'Embeddings of code, whose numbers are ordered by relevance: shorter and longer vectors can be had.',
    createdAt: '2025-05-28',
    nativeDimensions: 1536,
    otherDimensions: { least: 1, most: 3072 },
    contextLength: 8192,
    endpoints: [mistral('codestral-embed', true, '0.15')],
  },
];
