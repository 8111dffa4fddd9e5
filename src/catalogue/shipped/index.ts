// The shipped models, one file for each vendor.
import { AMAZON_MODELS } from './amazon.js';
import { COHERE_MODELS } from './cohere.js';
import { GOOGLE_MODELS } from './google.js';
import { JINA_MODELS } from './jina.js';
import { MISTRAL_MODELS } from './mistral.js';
import { NOMIC_MODELS } from './nomic.js';
import { OPEN_MODELS } from './open-models.js';
import { OPENAI_MODELS } from './openai.js';
import type { CatalogueModel } from '../catalogue-model.js';
import { VOYAGE_MODELS } from './voyage.js';

export const SHIPPED_MODELS: readonly CatalogueModel[] = [
  ...OPENAI_MODELS,
  ...COHERE_MODELS,
  ...VOYAGE_MODELS,
  ...MISTRAL_MODELS,
  ...GOOGLE_MODELS,
  ...JINA_MODELS,
  ...NOMIC_MODELS,
  ...AMAZON_MODELS,
  ...OPEN_MODELS,
];
