// The shipped models and their providers: every endpoint supports what the catalogue declares.
import { describe, expect, it } from '@jest/globals';
import { shippedCatalogue } from '../../src/routing/catalogue-source.js';
import { callOf, httpProvider } from '../support/providers/drive.js';

// The embedded model has no requests.
const SHIPPED_MODELS = shippedCatalogue().models.filter(({ id }) => id !== 'local/hashing');
const ENDPOINTS = SHIPPED_MODELS.flatMap((model) =>
  model.endpoints.map((endpoint) => [`${model.id} at ${endpoint.provider}`, model, endpoint] as const),
);
const CONNECTION = { baseUrl: 'https://upstream.test', apiKey: 'key' };
const DAY = /^20\d\d-\d\d-\d\d$/;

describe('shipped models', () => {
  it('have an id, a name and a day each, all distinct', () => {
    const ids = SHIPPED_MODELS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, createdAt, nativeDimensions } of SHIPPED_MODELS) {
      expect(id).toMatch(/^[a-z0-9.-]+\/[a-z0-9.-]+$/);
      expect(createdAt).toMatch(DAY);
      expect(nativeDimensions).toBeGreaterThan(0);
    }
  });

  it.each(ENDPOINTS)(
    'have for %s dated prices with a source, none of them zero',
    (_name, _model, endpoint) => {
      const rows = [endpoint.prices, ...Object.values(endpoint.modalityPrices ?? {})].flat();
      for (const { effectiveFrom, perToken, source } of rows) {
        expect(effectiveFrom).toMatch(DAY);
        expect(perToken).toBeGreaterThan(0n);
        expect(source).toMatch(/20\d\d/);
      }
    },
  );

  it.each(ENDPOINTS)(
    'have for %s a provider that accepts its forms, types and widths',
    async (_name, model, endpoint) => {
      const provider = httpProvider(endpoint.provider);
      const others = model.otherDimensions;
      const widths = others === null ? [] : 'least' in others ? [others.least, others.most] : others;
      const build = (overrides: Parameters<typeof callOf>[1]) =>
        provider.buildRequest(
          callOf(endpoint.upstreamModel, { input: { form: 'texts', items: ['one'] }, ...overrides }),
          CONNECTION,
        );
      const plain = (await build({})).body;
      for (const dimensions of endpoint.takesDimensions ? widths : []) {
        expect((await build({ dimensions })).body).toContain(`:${dimensions}`);
      }
      if (!endpoint.takesDimensions) expect(others).toBeNull();
      for (const inputType of endpoint.inputTypes ?? []) {
        // The type is sent, or is the provider's default.
        const said = (await build({ inputType })).body;
        if (inputType !== 'search_document') expect(said).not.toBe(plain);
      }
      const takesTokens = endpoint.inputForms.includes('tokens');
      const tokens = async () => build({ input: { form: 'tokens', items: [[1, 2]] } });
      await (takesTokens
        ? expect(tokens()).resolves.toBeDefined()
        : expect(tokens()).rejects.toThrow('input: '));
      const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
      if (endpoint.modalities.includes('image')) {
        await build({ input: { form: 'multimodal', items: [{ content: [image] }] } });
      }
      expect(endpoint.inputForms.includes('multimodal')).toBe(endpoint.modalities.length > 1);
    },
  );
});
