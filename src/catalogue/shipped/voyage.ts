// Voyage AI's text models. Sources: its documentation of 2026 (widths, limits), docs of MongoDB Atlas (1,000 inputs per
// call). The models of the 4 series share one vector space, but are separate models here.
import { POLICY_NOT_KNOWN, RETRIEVAL_TYPES, usdPerMillion } from './facts.js';
import type { CatalogueModel } from '../catalogue-model.js';

const VERCEL = 'Model pages of Vercel AI Gateway, vercel.com/ai-gateway/models, 2026';
const BIFROST = 'Model library of Bifrost, getmaxim.ai/bifrost/model-library/provider/voyage, 2026';
const WIDTHS = [256, 512, 2048];

interface Voyage {
  readonly name: string;
  readonly description: string;
  readonly createdAt: string;
  readonly maxTokensPerCall: number;
  readonly usd: string;
  readonly since: string;
  readonly source: string;
}

function voyage(model: Voyage): CatalogueModel {
  return {
    id: `voyage/${model.name}`,
    aliases: [`voyageai/${model.name}`],
    name: `Voyage AI: ${model.name}`,
    description: model.description,
    createdAt: model.createdAt,
    nativeDimensions: 1024,
    otherDimensions: WIDTHS,
    contextLength: 32_000,
    endpoints: [
      {
        provider: 'voyage',
        upstreamModel: model.name,
        inputForms: ['texts'],
        modalities: ['text'],
        inputTypes: RETRIEVAL_TYPES,
        takesDimensions: true,
        maxInputsPerCall: 1000,
        maxTokensPerInput: 32_000,
        maxTokensPerCall: model.maxTokensPerCall,
        prices: usdPerMillion(model.usd, model.since, model.source),
        quantization: null,
        dataPolicy: POLICY_NOT_KNOWN,
      },
    ],
  };
}

export const VOYAGE_MODELS: readonly CatalogueModel[] = [
  voyage({
    name: 'voyage-4-large',
    description: 'The largest of the 4 series, for the best retrieval.',
    createdAt: '2026-01-15',
    maxTokensPerCall: 120_000,
    usd: '0.12',
    since: '2026-01-15',
    source: VERCEL,
  }),
  voyage({
    name: 'voyage-4',
    description: 'The middle of the 4 series.',
    createdAt: '2026-01-15',
    maxTokensPerCall: 320_000,
    usd: '0.06',
    since: '2026-01-15',
    source: VERCEL,
  }),
  voyage({
    name: 'voyage-4-lite',
    description: 'The smallest of the 4 series, for speed and cost.',
    createdAt: '2026-01-15',
    maxTokensPerCall: 1_000_000,
    usd: '0.02',
    since: '2026-01-15',
    source: VERCEL,
  }),
  voyage({
    name: 'voyage-3.5',
    description: 'General-purpose and multilingual retrieval.',
    createdAt: '2025-05-20',
    maxTokensPerCall: 320_000,
    usd: '0.06',
    since: '2025-05-20',
    source: BIFROST,
  }),
  voyage({
    name: 'voyage-3.5-lite',
    description: 'Retrieval at low latency and cost.',
    createdAt: '2025-05-20',
    maxTokensPerCall: 1_000_000,
    usd: '0.02',
    since: '2025-05-20',
    source: BIFROST,
  }),
  voyage({
    name: 'voyage-3-large',
    description: 'The largest of the 3 series.',
    createdAt: '2025-01-07',
    maxTokensPerCall: 120_000,
    usd: '0.18',
    since: '2025-01-07',
    source: BIFROST,
  }),
  voyage({
    name: 'voyage-code-3',
    description: 'Retrieval of code.',
    createdAt: '2024-12-04',
    maxTokensPerCall: 120_000,
    usd: '0.18',
    since: '2024-12-04',
    source: BIFROST,
  }),
];
