// Google's models at the Gemini API. Sources: Google's documentation and SDK; 100 inputs per call by a maintainer of
// Google (lancedb PR 3618 on GitHub).
import { INPUT_TYPES } from '../../domain/embeddings/input-type.js';
import { KEPT_NOT_TRAINED_ON, listedAt, usdPerMillion } from './facts.js';
import type { ModelEndpoint, CatalogueModel } from '../catalogue-model.js';

// The rate of an image in one tile; the price list states one price for an image of any size.
const TOKEN_GUIDE = 'Gemini API documentation, "Understand and count tokens", read 2026-11-27';
const GOOGLE_PRICES = "tokencost.app of 2026-03-11, quoting Google's pricing page";

const SHARED = {
  provider: 'google',
  inputTypes: INPUT_TYPES,
  takesDimensions: true,
  maxInputsPerCall: 100,
  quantization: null,
  dataPolicy: KEPT_NOT_TRAINED_ON,
} satisfies Partial<ModelEndpoint>;

export const GOOGLE_MODELS: readonly CatalogueModel[] = [
  {
    id: 'google/gemini-embedding-001',
    name: 'Google: Gemini Embedding 001',
    description: 'Multilingual text embeddings whose vectors may be shortened.',
    createdAt: '2025-07-14',
    nativeDimensions: 3072,
    otherDimensions: { least: 128, most: 3071 },
    contextLength: 2048,
    endpoints: [
      {
        ...SHARED,
        upstreamModel: 'gemini-embedding-001',
        inputForms: ['texts'],
        modalities: ['text'],
        maxTokensPerInput: 2048,
        // Its answers have no usage: the cost of a call is the count before it.
        prices: listedAt('0.15'),
      },
    ],
  },
  {
    id: 'google/gemini-embedding-2',
    aliases: ['google/gemini-embedding-2-preview'],
    name: 'Google: Gemini Embedding 2',
    description: 'Embeddings of text, images, audio, video and documents in one vector space.',
    createdAt: '2026-03-10',
    nativeDimensions: 3072,
    otherDimensions: { least: 128, most: 3071 },
    contextLength: 8192,
    endpoints: [
      {
        ...SHARED,
        upstreamModel: 'gemini-embedding-2',
        inputForms: ['texts', 'multimodal'],
        modalities: ['text', 'image', 'audio', 'video', 'file'],
        maxTokensPerInput: 8192,
        prices: usdPerMillion('0.20', '2026-03-10', GOOGLE_PRICES),
        partRates: { image: { tokens: 258, source: TOKEN_GUIDE } },
        modalityPrices: {
          image: usdPerMillion('0.45', '2026-03-10', GOOGLE_PRICES),
          audio: usdPerMillion('6.50', '2026-03-10', GOOGLE_PRICES),
          video: usdPerMillion('12.00', '2026-03-10', GOOGLE_PRICES),
          file: [],
        },
      },
    ],
  },
];
