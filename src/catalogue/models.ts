// The models that are known out of the box.
import { parseUsd } from '../domain/money.js';
import type { CatalogueModel, DatedPrice, ModelEndpoint } from './catalogue-model.js';

const OPENAI_LIMITS = { maxInputsPerCall: 2048, maxTokensPerInput: 8192 } as const;

function openai(upstreamModel: string, takesDimensions: boolean, usdPerMillionTokens: string): ModelEndpoint {
  return {
    provider: 'openai',
    upstreamModel,
    inputForms: ['texts', 'tokens'],
    modalities: ['text'],
    quantization: null,
    dataPolicy: { retainsPrompts: true, trains: false },
    takesDimensions,
    ...OPENAI_LIMITS,
    prices: [price('2024-01-25', usdPerMillionTokens, "Portkey's public price list of 2026-08-21")],
  };
}

function price(effectiveFrom: string, usdPerMillionTokens: string, source: string): DatedPrice {
  return { effectiveFrom, perToken: parseUsd(usdPerMillionTokens) / 1_000_000n, source };
}

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
        prices: [price('2026-01-01', '0', 'runs inside this service')],
      },
    ],
  },
  {
    id: 'openai/text-embedding-3-small',
    createdAt: '2024-01-25',
    name: 'OpenAI: Text Embedding 3 Small',
    description: 'Small general-purpose embedding model whose vectors may be shortened.',
    nativeDimensions: 1536,
    otherDimensions: { least: 1, most: 1535 },
    contextLength: 8192,
    endpoints: [openai('text-embedding-3-small', true, '0.02')],
  },
  {
    id: 'openai/text-embedding-3-large',
    createdAt: '2024-01-25',
    name: 'OpenAI: Text Embedding 3 Large',
    description: 'Large general-purpose embedding model whose vectors may be shortened.',
    nativeDimensions: 3072,
    otherDimensions: { least: 1, most: 3071 },
    contextLength: 8192,
    endpoints: [openai('text-embedding-3-large', true, '0.13')],
  },
  {
    id: 'openai/text-embedding-ada-002',
    createdAt: '2022-12-15',
    name: 'OpenAI: Text Embedding Ada 002',
    description: 'Older general-purpose embedding model of one fixed width.',
    nativeDimensions: 1536,
    otherDimensions: null,
    contextLength: 8192,
    endpoints: [openai('text-embedding-ada-002', false, '0.10')],
  },
];
