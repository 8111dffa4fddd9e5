// OpenAI's models, served by OpenAI and by Azure. Sources: OpenAI's API reference (limits), Portkey's list (prices).
// Azure's upstream model is a deployment name: here the model's name, which Azure proposes.
import { KEPT_NOT_TRAINED_ON, PORTKEY_PRICES, usdPerMillion } from './facts.js';
import type { ModelEndpoint, CatalogueModel } from '../catalogue-model.js';

interface Served {
  readonly upstreamModel: string;
  readonly takesDimensions: boolean;
  readonly usd: string;
  /** The day on which OpenAI announced the price. */
  readonly since: string;
}

function servedByBoth(served: Served): readonly ModelEndpoint[] {
  return ['openai', 'azure'].map((provider) => ({
    provider,
    upstreamModel: served.upstreamModel,
    inputForms: ['texts', 'tokens'],
    modalities: ['text'],
    takesDimensions: served.takesDimensions,
    maxInputsPerCall: 2048,
    maxTokensPerInput: 8192,
    maxTokensPerCall: 300_000,
    prices: usdPerMillion(served.usd, served.since, PORTKEY_PRICES),
    quantization: null,
    dataPolicy: KEPT_NOT_TRAINED_ON,
  }));
}

export const OPENAI_MODELS: readonly CatalogueModel[] = [
  {
    id: 'openai/text-embedding-3-small',
    name: 'OpenAI: Text Embedding 3 Small',
    description: 'Small general-purpose embedding model whose vectors may be shortened.',
    createdAt: '2024-01-25',
    nativeDimensions: 1536,
    otherDimensions: { least: 1, most: 1535 },
    contextLength: 8192,
    endpoints: servedByBoth({
      upstreamModel: 'text-embedding-3-small',
      takesDimensions: true,
      usd: '0.02',
      since: '2024-01-25',
    }),
  },
  {
    id: 'openai/text-embedding-3-large',
    name: 'OpenAI: Text Embedding 3 Large',
    description: 'Large general-purpose embedding model whose vectors may be shortened.',
    createdAt: '2024-01-25',
    nativeDimensions: 3072,
    otherDimensions: { least: 1, most: 3071 },
    contextLength: 8192,
    endpoints: servedByBoth({
      upstreamModel: 'text-embedding-3-large',
      takesDimensions: true,
      usd: '0.13',
      since: '2024-01-25',
    }),
  },
  {
    id: 'openai/text-embedding-ada-002',
    name: 'OpenAI: Text Embedding Ada 002',
    description: 'Older general-purpose embedding model of one fixed width.',
    createdAt: '2022-12-15',
    nativeDimensions: 1536,
    otherDimensions: null,
    contextLength: 8192,
    endpoints: servedByBoth({
      upstreamModel: 'text-embedding-ada-002',
      takesDimensions: false,
      usd: '0.10',
      since: '2023-06-13',
    }),
  },
];
