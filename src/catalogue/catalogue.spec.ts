import { describe, expect, it } from '@jest/globals';
import { readOver } from '../../test/support/catalogue/catalogue-texts.js';
import { createEndpoint, createModel } from '../../test/support/routing/endpoints.js';
import { Catalogue } from './catalogue.js';
import type { CatalogueModel } from './catalogue-model.js';

const ENDPOINTS = [createEndpoint()];
const EMBED: CatalogueModel = {
  ...createModel(ENDPOINTS, 'acme/embed'),
  canonicalSlug: 'acme/embed-2312',
  aliases: ['acme/embed-preview'],
};
const FREE = createModel(ENDPOINTS, 'acme/embed-plus:free');
const SHARED = [createModel(ENDPOINTS, 'acme/shared'), createModel(ENDPOINTS, 'other/shared')];
const FLOOR = createModel(ENDPOINTS, 'acme/tile:floor');
const catalogue = new Catalogue([EMBED, FREE, ...SHARED, FLOOR, createModel(ENDPOINTS, 'acme/tile')]);

describe('a model', () => {
  it.each([
    ['acme/embed', 'acme/embed', null],
    ['acme/embed-2312', 'acme/embed', null],
    ['acme/embed-preview', 'acme/embed', null],
    ['embed', 'acme/embed', null],
    ['embed-preview', 'acme/embed', null],
    ['acme/embed:nitro', 'acme/embed', 'throughput'],
    ['acme/embed-2312:floor', 'acme/embed', 'price'],
    ['embed:exacto', 'acme/embed', 'exacto'],
    ['acme/embed-plus:free', 'acme/embed-plus:free', null],
    ['acme/embed-plus:free:floor', 'acme/embed-plus:free', 'price'],
    // An id that ends like a variant is that model.
    ['acme/tile:floor', 'acme/tile:floor', null],
    ['other/shared', 'other/shared', null],
  ])('%s is %s, sorted by %s', (name, id, sort) => {
    expect(catalogue.find(name)).toEqual({ model: expect.objectContaining({ id }), sort });
  });

  it.each([
    'acme/embed:free',
    'acme/embed:online',
    'acme/embed:',
    'acme/embed:nitro:floor',
    'acme/embed:toString',
    'acme/Embed',
    'acme',
    '',
    ':floor',
    'acme/',
    '__proto__',
  ])('has not the name %j', (name) => {
    expect(catalogue.find(name)).toBeUndefined();
  });

  it('is not chosen by a bare name of several models', () => {
    const message = 'model: shared is the name of several models: acme/shared, other/shared';
    expect(() => catalogue.find('shared')).toThrow(message);
    expect(() => catalogue.find('shared:floor')).toThrow(message);
  });
});

describe('a catalogue file', () => {
  const PROVIDERS: Readonly<Record<string, string>> = { 'house-of-one': 'one', one: 'one' };
  const read = (text: string): readonly CatalogueModel[] =>
    readOver({ models: [EMBED] }, text, {
      canonicalTag: (tag) => {
        const [name = '', ...variant] = tag.split('/');
        const slug = PROVIDERS[name];
        return slug === undefined ? undefined : [slug, ...variant].join('/');
      },
    }).models;
  const added = (members: string): string => `models:
  - id: acme/new
    ${members}
    created_at: 2026-01-02
    native_dimensions: 8
    context_length: 100
    endpoints:
      - { provider: house-of-one, tag: house-of-one/eu, upstream_model: new-1, max_inputs_per_call: 5,
          max_tokens_per_input: 100, prices: [], data_policy: { retains_prompts: false, trains: false } }
`;

  it('names providers by their aliases', () => {
    const [, model] = read(added(''));
    expect(model?.endpoints).toMatchObject([{ provider: 'one', tag: 'one/eu' }]);
  });

  it('gives models further ids', () => {
    const [, model] = read(added('canonical_slug: acme/new-2601\n    aliases: [acme/old]'));
    expect(model).toMatchObject({ canonicalSlug: 'acme/new-2601', aliases: ['acme/old'] });
    const [changed] = read('models: [{ id: acme/embed, aliases: [acme/other] }]');
    expect(changed).toMatchObject({ canonicalSlug: 'acme/embed-2312', aliases: ['acme/other'] });
  });

  it('may use a shipped alias as the id of its own model', () => {
    const models = read(added('').replace('acme/new', 'acme/embed-2312'));
    expect(models[0]).toEqual({
      ...createModel(ENDPOINTS, 'acme/embed'),
      canonicalSlug: 'acme/embed',
      aliases: ['acme/embed-preview'],
    });
    expect(new Catalogue(models).find('acme/embed-2312')?.model.nativeDimensions).toBe(8);
  });

  it.each([
    ['aliases: [acme/embed]', 'acme/embed names acme/embed and acme/new'],
    ['aliases: [acme/embed-preview]', 'acme/embed-preview names acme/embed and acme/new'],
    ['canonical_slug: acme/embed-2312', 'acme/embed-2312 names acme/embed and acme/new'],
    ['aliases: [old]', 'models[0].aliases[0]: must be of the form vendor/model'],
    ['aliases: acme/old', 'models[0].aliases: must be a list'],
  ])('is rejected with %s', (members, message) => {
    expect(() => read(added(members))).toThrow(message);
  });
});

describe('a disabled model', () => {
  const disabled = new Catalogue([{ ...EMBED, disabled: true }, FLOOR]);

  it.each(['acme/embed', 'acme/embed-preview', 'embed', 'acme/embed:floor'])(
    'is rejected for calls by the name %s, which still has an id for lists',
    (name) => {
      expect(() => disabled.find(name)).toThrow('the model acme/embed is disabled by the operator');
      expect(disabled.idOf(name)).toBe('acme/embed');
    },
  );

  it('is not listed', () => {
    expect(disabled.list()).toEqual([FLOOR]);
  });
});
