// Cohere's models, served by Cohere and by Amazon Bedrock. Sources: Cohere's OpenAPI document and model pages of
// 2026-08, AWS' user guide.
import {
  KEPT_NOT_TRAINED_ON,
  POLICY_NOT_KNOWN,
  TYPES_WITHOUT_SIMILARITY,
  UNPRICED,
  listedAt,
  usdPerMillion,
} from './facts.js';
import type { ModelEndpoint, CatalogueModel } from '../catalogue-model.js';

type Settings = Pick<ModelEndpoint, 'upstreamModel' | 'prices'> & Partial<ModelEndpoint>;

const GUIDE = 'developer.puter.com, "Cohere API pricing", June 2026';
// AWS: the maximum body of InvokeModel.
const MAX_BYTES_ON_BEDROCK = 25_000_000;

function cohere(settings: Settings): ModelEndpoint {
  return {
    provider: 'cohere',
    inputForms: ['texts'],
    modalities: ['text'],
    inputTypes: TYPES_WITHOUT_SIMILARITY,
    takesDimensions: false,
    maxInputsPerCall: 96,
    maxTokensPerInput: 512,
    quantization: null,
    dataPolicy: POLICY_NOT_KNOWN,
    ...settings,
  };
}

function bedrock(settings: Settings): ModelEndpoint {
  return cohere({
    provider: 'bedrock',
    dataPolicy: KEPT_NOT_TRAINED_ON,
    maxBytesPerCall: MAX_BYTES_ON_BEDROCK,
    ...settings,
  });
}

const V4 = {
  inputForms: ['texts', 'multimodal'],
  modalities: ['text', 'image'],
  takesDimensions: true,
  maxTokensPerInput: 128_000,
} satisfies Partial<ModelEndpoint>;

function v3(
  name: string,
  description: string,
  width: number,
  endpoints: readonly ModelEndpoint[],
): CatalogueModel {
  return {
    id: `cohere/${name}`,
    name: `Cohere: ${name}`,
    description,
    createdAt: '2023-11-02',
    nativeDimensions: width,
    otherDimensions: null,
    contextLength: 512,
    endpoints,
  };
}

export const COHERE_MODELS: readonly CatalogueModel[] = [
  {
    id: 'cohere/embed-v4.0',
    aliases: ['cohere/embed-v4'],
    name: 'Cohere: Embed v4.0',
    description: 'Multilingual embeddings of text, images and both together, in four widths.',
    createdAt: '2025-04-15',
    nativeDimensions: 1536,
    otherDimensions: [256, 512, 1024],
    contextLength: 128_000,
    endpoints: [
      cohere({
        ...V4,
        upstreamModel: 'embed-v4.0',
        maxBytesPerCall: 20_000_000,
        prices: usdPerMillion('0.12', '2026-06-01', GUIDE),
        modalityPrices: { image: usdPerMillion('0.47', '2026-06-01', GUIDE) },
      }),
      // Outside us-east-1 AWS serves it through inference profiles only: us.cohere.embed-v4:0, eu.cohere.embed-v4:0.
      // Its tokens are reported as one sum, and no price of image tokens was found: texts only.
      bedrock({
        ...V4,
        inputForms: ['texts'],
        modalities: ['text'],
        upstreamModel: 'cohere.embed-v4:0',
        prices: listedAt('0.12'),
      }),
    ],
  },
  v3('embed-english-v3.0', 'English embeddings for search and classification.', 1024, [
    cohere({ upstreamModel: 'embed-english-v3.0', prices: listedAt('0.10') }),
    bedrock({ upstreamModel: 'cohere.embed-english-v3', prices: listedAt('0.10') }),
  ]),
  v3('embed-multilingual-v3.0', 'Embeddings of more than a hundred languages.', 1024, [
    cohere({ upstreamModel: 'embed-multilingual-v3.0', prices: listedAt('0.10') }),
    bedrock({ upstreamModel: 'cohere.embed-multilingual-v3', prices: listedAt('0.10') }),
  ]),
  v3('embed-english-light-v3.0', 'Smaller and faster English embeddings.', 384, [
    cohere({ upstreamModel: 'embed-english-light-v3.0', prices: UNPRICED }),
  ]),
  v3('embed-multilingual-light-v3.0', 'Smaller and faster multilingual embeddings.', 384, [
    cohere({ upstreamModel: 'embed-multilingual-light-v3.0', prices: UNPRICED }),
  ]),
];
