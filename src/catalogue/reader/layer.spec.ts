import { describe, expect, it } from '@jest/globals';
import {
  ADDED,
  only,
  read,
  RULES,
  SHIPPED,
  shipped,
} from '../../../test/support/catalogue/catalogue-texts.js';
import { priceOn } from '../catalogue-model.js';
import type { CatalogueModel } from '../catalogue-model.js';
import { Cursor } from './cursor.js';
import { readLayer } from './layer.js';
import { parseYaml } from './yaml.js';

describe('a model that the file adds', () => {
  it('is added to the shipped ones, with defaults for optional members', () => {
    expect(read(ADDED)).toEqual([
      SHIPPED,
      {
        id: 'acme/new',
        name: 'acme/new',
        description: '',
        createdAt: '2026-01-02',
        nativeDimensions: 8,
        otherDimensions: null,
        contextLength: 100,
        endpoints: [
          {
            provider: 'two',
            upstreamModel: 'new-1',
            inputForms: ['texts'],
            modalities: ['text'],
            takesDimensions: false,
            maxInputsPerCall: 5,
            maxTokensPerInput: 100,
            prices: [{ effectiveFrom: '2026-01-02', perToken: 20_000n, source: 'a page' }],
            quantization: null,
            dataPolicy: { retainsPrompts: false, trains: false },
          },
        ],
      },
    ]);
  });

  it.each([
    ['0.02', 20_000n],
    ["'0.02'", 20_000n],
    ['0', 0n],
    ['0.000001', 1n],
    // As a floating-point number this could be 0.30000000000000004.
    ['0.30', 300_000n],
    ['1.1000000000', 1_100_000n],
    ['120', 120_000_000n],
  ])('the price %s is read exactly', (written, perToken) => {
    const model = only(ADDED.replace('0.02', written), 'acme/new');
    expect(priceOn(model.endpoints[0]!, '2026-06-01')).toBe(perToken);
  });

  it.each([
    ['at most its own', 'false', '{ least: 1, most: 8 }'],
    ['above its own where an endpoint takes dimensions', 'true', '[4, 16]'],
  ])('may have widths %s', (_name, takesDimensions, widths) => {
    const text = ADDED.replace('_length: 100', `_length: 100\n    other_dimensions: ${widths}`);
    const model = only(
      text.replace('max_inputs', `takes_dimensions: ${takesDimensions}\n        max_inputs`),
      'acme/new',
    );
    expect(model.otherDimensions).not.toBeNull();
  });

  it('has no prices when the file names none', () => {
    const text = ADDED.replace(/prices:\n(?: {10}.*\n)+/, 'prices: []\n');
    expect(priceOn(only(text, 'acme/new').endpoints[0]!, '2026-06-01')).toBeNull();
  });
});

describe('a shipped model', () => {
  it('keeps members that the file does not name', () => {
    expect(shipped('name: Other')).toEqual({ ...SHIPPED, name: 'Other' });
    expect(shipped('other_dimensions: null')).toEqual({ ...SHIPPED, otherDimensions: null });
    expect(shipped('other_dimensions: { least: 2, most: 9 }').otherDimensions).toEqual({ least: 2, most: 9 });
  });

  it('has one endpoint changed, found by its tag, and keeps the others', () => {
    const [plain, fast] = SHIPPED.endpoints;
    const change = 'max_inputs_per_call: 99, quantization: null, prices: []';
    expect(shipped(`endpoints: [{ provider: one, tag: one/fast, ${change} }]`).endpoints).toEqual([
      plain,
      { ...fast, maxInputsPerCall: 99, quantization: null, prices: [] },
    ]);
    expect(shipped(`endpoints: [{ provider: one, ${change} }]`).endpoints[1]).toEqual(fast);
  });

  it('has its input types and modality prices changed', () => {
    const row = '{ effective_from: 2026-01-01, usd_per_million_tokens: 1, source: x }';
    const members = `input_types: [search_query], modality_prices: { image: [${row}], audio: [] }`;
    expect(shipped(`endpoints: [{ provider: one, ${members} }]`).endpoints[0]).toEqual({
      ...SHIPPED.endpoints[0],
      inputTypes: ['search_query'],
      modalityPrices: {
        image: [{ effectiveFrom: '2026-01-01', perToken: 1_000_000n, source: 'x' }],
        audio: [],
      },
    });
    expect(() => shipped('endpoints: [{ provider: one, modality_prices: { text: [] } }]')).toThrow(
      'modality_prices.text: is not known here; known are image, audio, video, file',
    );
  });

  it('gets another endpoint', () => {
    const endpoint = ADDED.slice(ADDED.indexOf('    endpoints:'));
    const model = only(`models:\n  - id: vendor/shipped\n${endpoint}`, 'vendor/shipped');
    expect(model.endpoints.map(({ provider }) => provider)).toEqual(['one', 'one', 'two']);
  });

  it('is not mutated', () => {
    const before = structuredClone(SHIPPED);
    shipped('name: Other, endpoints: [{ provider: one, prices: [] }]');
    expect(SHIPPED).toEqual(before);
  });
});

describe('a provider whose models differ in their bodies', () => {
  const ARN = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc';
  const opaque = ADDED.replace('new-1', ARN);

  it('needs no family where the name of the model shows it', () => {
    expect(only(ADDED, 'acme/new').endpoints[0]).not.toHaveProperty('family');
  });

  it('has the family that the file states', () => {
    const text = opaque.replace(ARN, `${ARN}\n        family: old`);
    expect(only(text, 'acme/new').endpoints[0]).toMatchObject({ upstreamModel: ARN, family: 'old' });
  });

  it.each([
    [opaque, 'upstream_model does not show the family of the model; add family, one of old, young'],
    [opaque.replace(ARN, `${ARN}\n        family: middle`), 'family: must be one of old, young'],
    [
      ADDED.replace('provider: two', 'provider: one\n        family: old'),
      'family: this provider has no families of models',
    ],
  ])('is refused without a known one', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});

describe('a provider that serves one model', () => {
  const at = (id: string, ...upstreamModels: string[]): string => {
    const added = ADDED.slice(ADDED.indexOf('\n') + 1).replace('acme/new', id);
    const start = added.indexOf('      - provider');
    const endpoint = added.slice(start).replace('two', 'single');
    const endpoints = upstreamModels.map((name, index) =>
      endpoint.replace('new-1', index === 0 ? name : `${name}\n        tag: single/${index}`),
    );
    return added.slice(0, start) + endpoints.join('');
  };

  it('may serve it under several names', () => {
    expect(read(`models:\n${at('acme/a', 'new', 'new')}${at('acme/b', 'new')}`)).toHaveLength(3);
  });

  it('is not used for a second model', () => {
    const message = 'single serves one model, and the catalogue has two there: new and other';
    const two = `models:\n${at('acme/a', 'new')}${at('acme/b', 'other')}`;
    expect(() => read(two)).toThrow(`catalogue.yaml:16: models[1]: ${message}`);
    const one = `models:\n${at('acme/a', 'new', 'other')}`;
    expect(() => read(one)).toThrow(`catalogue.yaml:2: models[0]: ${message}`);
  });
});

describe('the defaults of a provider', () => {
  const defaults = (members: string, kind = 'models', provider = 'two'): string =>
    `defaults: { ${kind}: { ${provider}: { ${members} } } }\n`;

  it('state the members of endpoints that the file adds, unless those state their own', () => {
    const text = defaults('max_inputs_per_call: 7, max_tokens_per_call: 300, quantization: int8') + ADDED;
    expect(only(text, 'acme/new').endpoints[0]).toMatchObject({
      maxInputsPerCall: 5,
      maxTokensPerCall: 300,
      quantization: 'int8',
    });
  });

  it('change no endpoint of a model below', () => {
    const text = `${defaults('max_inputs_per_call: 7', 'models', 'one')}models: [{ id: vendor/shipped, name: Other }]`;
    expect(only(text, 'vendor/shipped')).toEqual({ ...SHIPPED, name: 'Other' });
    const changed = text.replace('name: Other', 'endpoints: [{ provider: one, prices: [] }]');
    expect(only(changed, 'vendor/shipped').endpoints[0]?.maxInputsPerCall).toBe(10);
  });

  it.each([
    [
      defaults('prices: []'),
      'catalogue.yaml:1: defaults.models.two.prices: is not known here; known are family,',
    ],
    [defaults('', 'models', 'three'), 'defaults.models.three: is not known here; known are local, one, two'],
    [
      defaults('', 'image_models'),
      'defaults.image_models: is not known here; known are models, chat_models, rerank_models',
    ],
    [
      defaults('max_tokens_per_call: 0') + ADDED,
      'catalogue.yaml:1: defaults.models.two.max_tokens_per_call: must be a whole number from 1',
    ],
  ])('are rejected: %s', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  it('are stated once in a catalogue of several files', () => {
    const files = ['a.yaml', 'b.yaml'].map((name) => parseYaml(defaults('max_inputs_per_call: 7'), name));
    const readBoth = (): unknown =>
      readLayer(
        files,
        { models: [], chatModels: [], rerankModels: [], movingAliases: [], unlisted: [] },
        { ...RULES, providers: ['two'] },
      );
    expect(readBoth).toThrow('b.yaml:1: defaults.models.two: appears twice');
  });
});

it('reads the rate of a part that is not text', () => {
  const rate = 'part_rates: { image: { tokens: 258, source: a page } }';
  expect(shipped(`endpoints: [{ provider: one, ${rate} }]`).endpoints[0]?.partRates).toEqual({
    image: { tokens: 258, source: 'a page' },
  });
});

describe('a catalogue that is not YAML', () => {
  const json = (price: unknown): CatalogueModel | undefined => {
    const row = { effective_from: '2026-01-01', source: 'x', usd_per_million_tokens: price };
    const document = { models: [{ id: 'vendor/shipped', endpoints: [{ provider: 'one', prices: [row] }] }] };
    return readLayer(
      [new Cursor({ name: 'the body' }, document)],
      { models: [SHIPPED], chatModels: [], rerankModels: [], movingAliases: [], unlisted: [] },
      RULES,
    ).models[0];
  };

  it.each([
    [0.3, 300_000n],
    ['0.30', 300_000n],
    [0, 0n],
    [1e-6, 1n],
  ])('has the price %j by its shortest decimal form', (price, perToken) => {
    expect(json(price)?.endpoints[0]?.prices[0]?.perToken).toBe(perToken);
  });

  it.each([
    [null, 'must be a decimal number that is not negative'],
    [1e-7, 'must have at most 6 decimal places'],
    [0.1 + 0.2, 'has more than 15 digits; write the number as a string'],
  ])('names the member of the price %j', (price, problem) => {
    expect(() => json(price)).toThrow(
      `the body: models[0].endpoints[0].prices[0].usd_per_million_tokens: ${problem}`,
    );
  });
});
