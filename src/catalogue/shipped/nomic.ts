// Nomic's model. Source: its documentation. Shortening scales the vectors before the cut, so only Nomic can do it. The
// price list names another version of the model and is not used.
import { POLICY_NOT_KNOWN, TYPES_WITHOUT_SIMILARITY, UNPRICED } from './facts.js';
import type { CatalogueModel } from '../catalogue-model.js';

export const NOMIC_MODELS: readonly CatalogueModel[] = [
  {
    id: 'nomic-ai/nomic-embed-text-v1.5',
    name: 'Nomic: Embed Text v1.5',
    description: 'English text embeddings with four input types and five widths.',
    createdAt: '2024-02-14',
    nativeDimensions: 768,
    otherDimensions: [64, 128, 256, 512],
    contextLength: 8192,
    endpoints: [
      {
        provider: 'nomic',
        upstreamModel: 'nomic-embed-text-v1.5',
        inputForms: ['texts'],
        modalities: ['text'],
        inputTypes: TYPES_WITHOUT_SIMILARITY,
        takesDimensions: true,
        maxInputsPerCall: 400,
        maxTokensPerInput: 8192,
        prices: UNPRICED,
        quantization: null,
        dataPolicy: POLICY_NOT_KNOWN,
      },
    ],
  },
];
