// Which endpoints the caller's preferences leave. Source: docs/contract.md#provider-preferences.
import { describe, expect, it } from '@jest/globals';
import {
  createCandidate,
  createEndpoint,
  createOrderingContext,
  DAY,
  createOwnCredential,
  createTarget,
} from '../../../test/support/routing/endpoints.js';
import { parseUsdPerMillion } from '../../domain/spend/money.js';
import type { Modality } from '../../domain/embeddings/modality.js';
import { NO_PREFERENCES } from '../../domain/providers/provider-preferences.js';
import type { MaxPrices, ProviderPreferences } from '../../domain/providers/provider-preferences.js';
import { filterCandidates, slugMatches } from './endpoint-order.js';

const CONTEXT = createOrderingContext();

const prefer = (preferences: Partial<ProviderPreferences>): ProviderPreferences => ({
  ...NO_PREFERENCES,
  ...preferences,
});

function filter(
  candidates: readonly ReturnType<typeof createCandidate>[],
  preferences: Partial<ProviderPreferences>,
): string[] {
  return filterCandidates(candidates, prefer(preferences), CONTEXT).map(
    ({ target }) => target.endpoint.tag ?? target.endpoint.provider,
  );
}

describe('slugs', () => {
  it.each([
    ['deepinfra', 'deepinfra/turbo', true],
    ['deepinfra/turbo', 'deepinfra/turbo', true],
    ['deepinfra/turbo', 'deepinfra', false],
    ['deepinfra/turbo', 'deepinfra/base', false],
    ['deep', 'deepinfra', false],
    ['deepinfra', 'deepinfra2', false],
    ['DeepInfra', 'deepinfra/turbo', true],
  ])('%s of a request and %s of an endpoint: %p', (slug, tag, isMatch) => {
    expect(slugMatches(slug, createTarget(createEndpoint({ provider: 'deepinfra', tag })))).toBe(isMatch);
  });
});

describe('left out', () => {
  const base = createCandidate('deepinfra', { tag: 'deepinfra/base' });
  const turbo = createCandidate('deepinfra', { tag: 'deepinfra/turbo' });
  const openai = createCandidate('openai', { quantization: 'fp16' });
  const all = [base, turbo, openai];

  it.each([
    [{ only: ['deepinfra'] }, ['deepinfra/base', 'deepinfra/turbo']],
    [{ only: ['deepinfra/turbo'] }, ['deepinfra/turbo']],
    [{ only: ['deepinfra', 'openai'], ignore: ['deepinfra/turbo'] }, ['deepinfra/base', 'openai']],
    [{ ignore: ['deepinfra'] }, ['openai']],
    [{ only: ['unknown'] }, []],
    [{ order: ['openai'] }, ['deepinfra/base', 'deepinfra/turbo', 'openai']],
    [{ order: ['openai'], allowFallbacks: false }, ['openai']],
    [{ quantizations: ['fp16'] }, ['openai']],
    [{ quantizations: ['unknown'] }, ['deepinfra/base', 'deepinfra/turbo']],
  ] satisfies [Partial<ProviderPreferences>, string[]][])('by %j: left are %j', (preferences, left) => {
    expect(filter(all, preferences)).toEqual(left);
  });

  it('by data policy', () => {
    const keeper = createCandidate('keeper', { dataPolicy: { retainsPrompts: true, trains: false } });
    const trainer = createCandidate('trainer', { dataPolicy: { retainsPrompts: false, trains: true } });
    const safe = createCandidate('safe');
    expect(filter([keeper, trainer, safe], { denyDataCollection: true })).toEqual(['keeper', 'safe']);
    expect(filter([keeper, trainer, safe], { zeroDataRetention: true })).toEqual(['safe']);
  });

  it('by what a customer declares for the own account', () => {
    const keeper = { dataPolicy: { retainsPrompts: true, trains: false } };
    const declared = createCandidate('declared', {
      ...keeper,
      credential: createOwnCredential(0, { declaredZdr: true }),
    });
    const silent = createCandidate('silent', { ...keeper, credential: createOwnCredential(1) });
    const denied = createCandidate('denied', { credential: createOwnCredential(2, { declaredZdr: false }) });
    expect(filter([declared, silent, denied], { zeroDataRetention: true })).toEqual(['declared']);
  });

  it('by price: what costs more, and what has no known price', () => {
    const candidates = [
      createCandidate('cheap', { usd: '0.5' }),
      createCandidate('at the bound', { usd: '1' }),
      createCandidate('dear', { usd: '1.000001' }),
      createCandidate('unknown', { usd: null }),
    ];
    const maxPrices = { prompt: parseUsdPerMillion('1') };
    expect(filter(candidates, { maxPrices })).toEqual(['cheap', 'at the bound']);
  });

  it('by the price of what the input is of', () => {
    const priced = (image: string) => ({
      usd: '0.1',
      modalityPrices: {
        image: [{ effectiveFrom: DAY, perToken: parseUsdPerMillion(image), source: '' }],
      },
    });
    const candidates = [createCandidate('cheap', priced('0.5')), createCandidate('dear', priced('2'))];
    const leftWith = (maxPrices: MaxPrices, modalities: readonly Modality[]) =>
      filterCandidates(candidates, prefer({ maxPrices }), createOrderingContext({ modalities })).length;
    const one = parseUsdPerMillion('1');
    expect(leftWith({ prompt: one }, ['text'])).toBe(2);
    expect(leftWith({ prompt: one }, ['text', 'image'])).toBe(1);
    expect(leftWith({ image: one }, ['image'])).toBe(1);
    expect(leftWith({ image: one, audio: 0n }, ['text'])).toBe(2);
    expect(leftWith({ prompt: one, image: 0n }, ['image'])).toBe(0);
  });

  it('by parameters', () => {
    const context = { ...CONTEXT, supportsAllParameters: () => false };
    expect(filterCandidates(all, prefer({ requireParameters: true }), context)).toEqual([]);
    expect(filterCandidates(all, NO_PREFERENCES, context)).toEqual(all);
  });
});
