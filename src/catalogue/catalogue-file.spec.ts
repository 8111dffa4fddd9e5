import { describe, expect, it } from '@jest/globals';
import { readCatalogueFile } from './catalogue-file.js';
import { priceOn } from './catalogue-model.js';
import type { CatalogueModel, ModelEndpoint } from './catalogue-model.js';
import { CatalogueFileError } from './yaml-cursor.js';

const PLAIN: ModelEndpoint = {
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

const SHIPPED: CatalogueModel = {
  id: 'vendor/shipped',
  name: 'Shipped',
  description: 'As it comes.',
  createdAt: '2025-01-01',
  nativeDimensions: 1024,
  otherDimensions: [256, 512],
  contextLength: 512,
  endpoints: [PLAIN, { ...PLAIN, tag: 'one/fast' }],
};

const ADDED = `models:
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

const read = (text: string): CatalogueModel[] =>
  readCatalogueFile(text, {
    fileName: 'catalogue.yaml',
    shipped: [SHIPPED],
    providers: ['local', 'one', 'two', 'single'],
    canonicalTag: (tag) => tag,
    oneModelProviders: ['single'],
    families: FAMILIES,
  });
const only = (text: string, id: string): CatalogueModel => read(text).find((model) => model.id === id)!;
const shipped = (members: string): CatalogueModel =>
  only(`models: [{ id: vendor/shipped, ${members} }]`, 'vendor/shipped');

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
    const message = 'single serves one model, and this file has two there: new and other';
    const two = `models:\n${at('acme/a', 'new')}${at('acme/b', 'other')}`;
    expect(() => read(two)).toThrow(`catalogue.yaml:16: models[1]: ${message}`);
    const one = `models:\n${at('acme/a', 'new', 'other')}`;
    expect(() => read(one)).toThrow(`catalogue.yaml:2: models[0]: ${message}`);
  });
});

describe('a file that cannot be used is rejected with one line', () => {
  const PRICE = 'models[0].endpoints[0].prices[0]';
  it.each([
    // The replaced text, its replacement, the line, and the rest of the message.
    ['0.02', '-1', 13, `${PRICE}.usd_per_million_tokens: must be a decimal number that is not negative`],
    ['0.02', '1e-3', 13, `${PRICE}.usd_per_million_tokens: must be a decimal number that is not negative`],
    ['0.02', 'free', 13, `${PRICE}.usd_per_million_tokens: must be a decimal number that is not negative`],
    ['0.02', '0.0000001', 13, `${PRICE}.usd_per_million_tokens: must have at most 6 decimal places`],
    ['usd_per_million_tokens', 'usd', 13, `${PRICE}.usd: is not known here; known are effective_from, `],
    ['source: a page', 'source: ""', 14, `${PRICE}.source: must be text of 1 to 500 characters`],
    ['            source: a page\n', '', 12, `${PRICE}: source is missing`],
    ['from: 2026-01-02', 'from: 2026-02-30', 12, `${PRICE}.effective_from: must be a day of the calendar`],
    [
      'created_at: 2026-01-02',
      'created_at: soon',
      3,
      'models[0].created_at: must be a day of the form YYYY-MM-DD',
    ],
    [
      'provider: two',
      'provider: three',
      7,
      'models[0].endpoints[0].provider: must be one of local, one, two, single',
    ],
    [
      'provider: two',
      'provider: local',
      7,
      'models[0].endpoints[0]: provider: local serves its own model only',
    ],
    [
      'provider: two',
      'provider: two\n        tag: one',
      8,
      'models[0].endpoints[0].tag: must be two, or two/ and a name',
    ],
    [
      'per_call: 5',
      'per_call: 0',
      9,
      'models[0].endpoints[0].max_inputs_per_call: must be a whole number from 1 to ',
    ],
    ['per_call: 5', 'per_call: 5.5', 9, 'models[0].endpoints[0].max_inputs_per_call: must be a whole number'],
    ['trains: false', 'trains: no', 15, 'models[0].endpoints[0].data_policy.trains: must be true or false'],
    ['trains: false', 'sells: false', 15, 'models[0].endpoints[0].data_policy.sells: is not known here'],
    ['native_dimensions: 8\n', '\n', 2, 'models[0]: native_dimensions is missing'],
    ['acme/new', 'new', 2, 'models[0].id: must be of the form vendor/model'],
    ['created_at', '__proto__', 3, 'models[0].__proto__: is not known here'],
    ['models:', 'model:', 1, 'model: is not known here; known are models'],
    [
      '    context_length: 100\n',
      '    other_dimensions: 5\n',
      5,
      'models[0].other_dimensions: must be an object',
    ],
    ['native_dimensions: 8', 'id: acme/new', 4, 'is not valid YAML: Map keys must be unique'],
    ['id: acme/new', 'id: [', 3, 'is not valid YAML: '],
  ])('%s -> %s', (from, to, line, message) => {
    expect(ADDED).toContain(from);
    const rejected = (): unknown => read(ADDED.replace(from, to));
    expect(rejected).toThrow(CatalogueFileError);
    expect(rejected).toThrow(`catalogue.yaml:${line}: ${message}`);
    expect(rejected).toThrow(/^[^\n]*$/);
  });

  it.each([
    ['', 'catalogue.yaml:1: must be an object'],
    ['- models', 'catalogue.yaml:1: must be an object'],
    ['models:', 'catalogue.yaml:1: models: must be a list'],
    ['models: *nothing', 'catalogue.yaml:1:'],
    [
      'models: [{ id: vendor/shipped, endpoints: [] }]',
      'models[0].endpoints: must name at least one endpoint',
    ],
    [
      'models: [{ id: vendor/shipped, native_dimensions: 512 }]',
      'models[0].native_dimensions: must stay 1024: another width is another model, with another id',
    ],
    [
      'models: [{ id: vendor/shipped }, { id: vendor/shipped }]',
      'models[1]: vendor/shipped appears in this file twice',
    ],
    [
      'models: [{ id: vendor/shipped, endpoints: [{ provider: one }, { provider: one }] }]',
      'models[0].endpoints[1]: one appears here twice',
    ],
    ['models: &a [*a]', 'catalogue.yaml:1:'],
    [
      ADDED.replace('_length: 100', '_length: 100\n    other_dimensions: [4, 16]'),
      'models[0]: no endpoint takes_dimensions, so that none gives vectors of 16',
    ],
    [
      ADDED.replace('_length: 100', '_length: 100\n    other_dimensions: { least: 1, most: 9 }'),
      'models[0]: no endpoint takes_dimensions, so that none gives vectors of 9',
    ],
  ])('%s', (text, message) => {
    const rejected = (): unknown => read(text);
    expect(rejected).toThrow(CatalogueFileError);
    expect(rejected).toThrow(message);
  });

  it('rejects two prices of one day', () => {
    const row = '{ effective_from: 2026-01-01, usd_per_million_tokens: 1, source: x }';
    expect(() => shipped(`endpoints: [{ provider: one, prices: [${row}, ${row}] }]`)).toThrow(
      'prices[1]: there are two prices from 2026-01-01 on',
    );
  });
});
