import { describe, expect, it } from '@jest/globals';
import type { EmbeddingInput } from '../domain/embedding.js';
import { priceOfInput, priceOn } from './catalogue-model.js';
import type { ModelEndpoint } from './catalogue-model.js';

const endpoint: ModelEndpoint = {
  provider: 'test',
  upstreamModel: 'test',
  inputForms: ['texts', 'multimodal'],
  modalities: ['text', 'image'],
  takesDimensions: false,
  maxInputsPerCall: 10,
  maxTokensPerInput: 100,
  prices: [
    { effectiveFrom: '2026-02-01', perToken: 30n, source: 'test' },
    { effectiveFrom: '2026-01-01', perToken: 20n, source: 'test' },
  ],
  modalityPrices: { image: [{ effectiveFrom: '2026-01-01', perToken: 90n, source: 'test' }] },
  quantization: null,
  dataPolicy: { retainsPrompts: false, trains: false },
};

const withPart = (type: string): EmbeddingInput => ({
  form: 'multimodal',
  items: [{ content: [{ type: 'text', text: 'a' }, { type }] }],
});

describe('the price of a call', () => {
  it.each([
    ['2025-12-31', null],
    ['2026-01-01', 20n],
    ['2026-01-31', 20n],
    ['2026-02-01', 30n],
  ])('on %s is the one in force', (day, expected) => {
    expect(priceOn(endpoint, day)).toBe(expected);
  });

  it('is not known where a part has a price of its own, and is never taken for that of text', () => {
    expect(priceOfInput(endpoint, '2026-03-01', withPart('image_url'))).toBeNull();
    expect(priceOfInput(endpoint, '2026-03-01', withPart('text'))).toBe(30n);
    expect(priceOfInput(endpoint, '2026-03-01', { form: 'texts', items: ['image'] })).toBe(30n);
  });
});
