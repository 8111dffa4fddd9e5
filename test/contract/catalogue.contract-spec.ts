// The shipped models and the example file satisfy the rules of a catalogue file.
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { endpointTag, priceOn } from '../../src/catalogue/catalogue-model.js';
import { Catalogue } from '../../src/catalogue/catalogue.js';
import { findProvider } from '../../src/providers/index.js';
import { SHIPPED } from '../../src/catalogue/generated/shipped.js';
import { readLayer } from '../../src/catalogue/reader/layer.js';
import { parseYaml } from '../../src/catalogue/reader/yaml.js';
import { loadCatalogueModels, shippedCatalogue, SHIPPED_RULES } from '../../src/routing/catalogue-source.js';

const EXAMPLE = fileURLToPath(new URL('../../docs/catalogue.example.yaml', import.meta.url));

const MODELS = shippedCatalogue().models;

// The file and the line of an error are those of the YAML; the service reads the same as JSON.
it('ships what the files of catalogue/ say (G1)', () => {
  const documents = Object.keys(JSON.parse(SHIPPED) as object).map((name) =>
    parseYaml(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'), name),
  );
  expect(
    readLayer(
      documents,
      { models: [], chatModels: [], rerankModels: [], movingAliases: [], unlisted: [] },
      SHIPPED_RULES,
    ),
  ).toEqual(shippedCatalogue());
});

describe.each([
  ['the shipped catalogue', MODELS],
  ['the example file', loadCatalogueModels(EXAMPLE).models],
])('%s', (_name, models) => {
  it('names every model once', () => {
    expect(new Set(models.map(({ id }) => id)).size).toBe(models.length);
  });

  it.each(models.map((model) => [model.id, model] as const))('%s has usable endpoints', (_id, model) => {
    expect(model.endpoints.length).toBeGreaterThan(0);
    expect(new Set(model.endpoints.map(endpointTag)).size).toBe(model.endpoints.length);
    for (const endpoint of model.endpoints) {
      expect(findProvider(endpoint.provider)).toBeDefined();
      expect(endpointTag(endpoint).split('/')[0]).toBe(endpoint.provider);
      for (const { effectiveFrom, perToken, source } of endpoint.prices) {
        expect(new Date(effectiveFrom).toISOString().slice(0, 10)).toBe(effectiveFrom);
        expect(perToken).toBeGreaterThanOrEqual(0n);
        expect(source).not.toBe('');
      }
    }
  });
});

// A smaller limit refuses inputs that the provider takes, and cuts the tokens that it bills.
it.each(MODELS.map((model) => [model.id, model] as const))(
  '%s takes inputs of its whole context',
  (_id, model) => {
    const longest = Math.max(
      ...model.endpoints.map(({ maxTokensPerInput }) => maxTokensPerInput ?? Infinity),
    );
    expect(longest).toBe(model.contextLength);
  },
);

describe('the example file', () => {
  const catalogue = new Catalogue(loadCatalogueModels(EXAMPLE).models);

  it('adds models for self-hosted servers', () => {
    const tags = (id: string): string[] | undefined => catalogue.find(id)?.model.endpoints.map(endpointTag);
    expect(tags('acme/support-tickets')).toEqual(['openai-compatible']);
    expect(tags('baai/bge-m3-in-house')).toEqual(['tei', 'vllm', 'ollama/basement']);
  });

  it('changes the price of a shipped model from a day on', () => {
    const [endpoint] = catalogue.find('openai/text-embedding-3-small')!.model.endpoints;
    expect(priceOn(endpoint!, '2026-09-30')).toBe(20_000n);
    expect(priceOn(endpoint!, '2026-10-01')).toBe(18_000n);
  });
});
