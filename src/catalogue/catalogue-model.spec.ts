import { describe, expect, it } from '@jest/globals';
import { priceOn } from './catalogue-model.js';
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
  modalityPrices: { image: [{ effectiveFrom: '2026-01-15', perToken: 90n, source: 'test' }], file: [] },
  quantization: null,
  dataPolicy: { retainsPrompts: false, trains: false },
};

describe('the price of a call', () => {
  it.each([
    ['2025-12-31', null],
    ['2026-01-01', 20n],
    ['2026-01-31', 20n],
    ['2026-02-01', 30n],
  ])('on %s is the one in force', (day, expected) => {
    expect(priceOn(endpoint, day)).toBe(expected);
  });

  it('is that of the modality if it has its own, else that of text', () => {
    expect(priceOn(endpoint, '2026-02-01', 'image')).toBe(90n);
    expect(priceOn(endpoint, '2026-01-14', 'image')).toBeNull();
    expect(priceOn(endpoint, '2026-02-01', 'file')).toBeNull();
    expect(priceOn(endpoint, '2026-02-01', 'audio')).toBe(30n);
    expect(priceOn(endpoint, '2026-02-01', 'text')).toBe(30n);
  });
});
