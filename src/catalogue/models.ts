// The shipped models, with the embedded one first.
import type { CatalogueModel } from './catalogue-model.js';
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
