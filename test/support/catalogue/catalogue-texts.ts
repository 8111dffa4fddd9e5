// Catalogue files for tests, and a small shipped catalogue that they change.
import type { CatalogueModel, ModelEndpoint } from '../../../src/catalogue/catalogue-model.js';
import { readLayer } from '../../../src/catalogue/reader/layer.js';
import type { CatalogueContents, CatalogueRules } from '../../../src/catalogue/reader/kinds.js';
import { parseYaml } from '../../../src/catalogue/reader/yaml.js';

export const PLAIN: ModelEndpoint = {
  provider: 'one',
  upstreamModel: 'shipped-1',
  inputForms: ['texts'],
  modalities: ['text'],
  takesDimensions: true,
  maxInputsPerCall: 10,
  maxTokensPerInput: 512,
  maxTokensPerCall: 5_000,
  prices: [{ effectiveFrom: '2025-01-01', perToken: 100_000n, source: 'list' }],
  quantization: 'fp16',
  dataPolicy: { retainsPrompts: true, trains: true },
};

export const SHIPPED: CatalogueModel = {
  id: 'vendor/shipped',
  name: 'Shipped',
  description: 'As it comes.',
  createdAt: '2025-01-01',
  nativeDimensions: 1024,
  otherDimensions: [256, 512],
  contextLength: 512,
  endpoints: [PLAIN, { ...PLAIN, tag: 'one/fast' }],
};

export const ADDED = `models:
  - id: acme/new
    created_at: 2026-01-02
    native_dimensions: 8
    context_length: 100
    endpoints:
      - provider: two
        upstream_model: new-1
        max_inputs_per_call: 5
        max_tokens_per_input: 100
        prices:
          - effective_from: 2026-01-02
            usd_per_million_tokens: 0.02
            source: a page
        data_policy: { retains_prompts: false, trains: false }
`;

const FAMILIES = new Map([
  ['two', { names: ['old', 'young'], of: (name: string) => (name.startsWith('new-') ? 'young' : null) }],
]);

export const RULES: CatalogueRules = {
  providers: ['one'],
  chatWires: new Map(),
  closedProviders: ['local'],
  canonicalTag: (tag) => tag,
  oneModelProviders: [],
  families: new Map(),
  discovered: [],
  rerank: new Map(),
};

/** A file over these models. */
export function readOver(
  below: Partial<CatalogueContents>,
  text: string,
  rules: Partial<CatalogueRules> = {},
): CatalogueContents {
  const documents = [parseYaml(text, 'catalogue.yaml')];
  return readLayer(
    documents,
    { models: [], chatModels: [], rerankModels: [], movingAliases: [], unlisted: [], ...below },
    { ...RULES, ...rules },
  );
}

export const read = (text: string): readonly CatalogueModel[] =>
  readOver({ models: [SHIPPED] }, text, {
    providers: ['local', 'one', 'two', 'single'],
    oneModelProviders: ['single'],
    families: FAMILIES,
  }).models;
export const only = (text: string, id: string): CatalogueModel =>
  read(text).find((model) => model.id === id)!;
export const shipped = (members: string): CatalogueModel =>
  only(`models: [{ id: vendor/shipped, ${members} }]`, 'vendor/shipped');
