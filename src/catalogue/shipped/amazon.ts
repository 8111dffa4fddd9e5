// Amazon's Titan text models, served by Bedrock, one text per call. Source: AWS' user guide.
import { KEPT_NOT_TRAINED_ON, listedAt } from './facts.js';
import type { ModelEndpoint, CatalogueModel } from '../catalogue-model.js';

function titan(upstreamModel: string, takesDimensions: boolean, usd: string): ModelEndpoint {
  return {
    provider: 'bedrock',
    upstreamModel,
    inputForms: ['texts'],
    modalities: ['text'],
    takesDimensions,
    maxInputsPerCall: 1,
    maxTokensPerInput: 8192,
    prices: listedAt(usd),
    quantization: null,
    dataPolicy: KEPT_NOT_TRAINED_ON,
  };
}

export const AMAZON_MODELS: readonly CatalogueModel[] = [
  {
    id: 'amazon/titan-embed-text-v2',
    aliases: ['amazon/titan-embed-text-v2:0'],
    name: 'Amazon: Titan Text Embeddings V2',
    description: 'Multilingual text embeddings in three widths.',
    createdAt: '2024-04-30',
    nativeDimensions: 1024,
    otherDimensions: [256, 512],
    contextLength: 8192,
    endpoints: [titan('amazon.titan-embed-text-v2:0', true, '0.02')],
  },
  {
    id: 'amazon/titan-embed-text-v1',
    name: 'Amazon: Titan Embeddings G1 Text',
    description: 'Older text embeddings of one fixed width.',
    createdAt: '2023-09-28',
    nativeDimensions: 1536,
    otherDimensions: null,
    contextLength: 8192,
    endpoints: [titan('amazon.titan-embed-text-v1', false, '0.10')],
  },
];
