import { describe, expect, it } from '@jest/globals';
import { ADDED, read, shipped } from '../../../test/support/catalogue/catalogue-texts.js';
import { CatalogueError } from './cursor.js';

describe('a file that cannot be used is rejected with one line (G2)', () => {
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
    ['models:', 'model:', 1, 'model: is not known here; known are defaults, models, chat_models'],
    [
      '    context_length: 100\n',
      '    context_length: 100\n    other_dimensions: 5\n',
      6,
      'models[0].other_dimensions: must be an object',
    ],
    ['native_dimensions: 8', 'id: acme/new', 4, 'is not valid YAML: Map keys must be unique'],
    ['id: acme/new', 'id: [', 3, 'is not valid YAML: '],
  ])('%s -> %s', (from, to, line, message) => {
    expect(ADDED).toContain(from);
    const rejected = (): unknown => read(ADDED.replace(from, to));
    expect(rejected).toThrow(CatalogueError);
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
    ['models: [{ id: vendor/shipped }, { id: vendor/shipped }]', 'models[1]: vendor/shipped appears twice'],
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
    expect(rejected).toThrow(CatalogueError);
    expect(rejected).toThrow(message);
  });

  it('rejects two prices of one day', () => {
    const row = '{ effective_from: 2026-01-01, usd_per_million_tokens: 1, source: x }';
    expect(() => shipped(`endpoints: [{ provider: one, prices: [${row}, ${row}] }]`)).toThrow(
      'prices[1]: there are two prices from 2026-01-01 on',
    );
  });
});
