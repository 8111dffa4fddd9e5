// When own provider keys are tried: first, unless they are in an outage and something else works. Source: docs/contract.md#routing.
import { describe, expect, it } from '@jest/globals';
import {
  createCandidate,
  createOrderingContext,
  createOutage,
  createOwnCredential,
} from '../../../test/support/routing/endpoints.js';
import { NO_PREFERENCES } from '../../domain/providers/provider-preferences.js';
import type { ProviderPreferences } from '../../domain/providers/provider-preferences.js';
import { EndpointHealth } from './endpoint-health.js';
import { orderCandidates } from './endpoint-order.js';
import type { Candidate } from './endpoint-order.js';
import type { OwnCredential } from '../endpoint-target.js';

const NOW = 1_000_000;

function order(candidates: readonly Candidate[], preferences: Partial<ProviderPreferences> = {}): string[] {
  const context = createOrderingContext({ now: NOW });
  return orderCandidates(candidates, { ...NO_PREFERENCES, ...preferences }, context).map(
    ({ target }) => target.endpoint.provider,
  );
}

describe('an own key in an outage', () => {
  interface OwnOptions extends Partial<OwnCredential> {
    readonly isOpen?: boolean;
  }
  const own = (name: string, position: number, { isOpen = true, ...options }: OwnOptions = {}) => {
    const health = isOpen ? createOutage(NOW) : new EndpointHealth();
    // Another call has just probed it.
    health.tryProbe(NOW);
    return createCandidate(name, { health, credential: createOwnCredential(position, options) });
  };
  const out = (name: string) => {
    const health = createOutage(NOW);
    health.tryProbe(NOW);
    return createCandidate(name, { health });
  };
  const shared = createCandidate('shared');

  it.each([
    ['waits behind the shared that work', [own('own', 0), shared], ['shared', 'own']],
    ['waits behind another own key', [own('own', 0), own('other', 1, { isOpen: false })], ['other', 'own']],
    ['comes before the shared that do not work', [own('own', 0), out('shared')], ['own', 'shared']],
    [
      'comes between the shared that work and those that do not',
      [own('own', 0), out('bad'), shared],
      ['shared', 'own', 'bad'],
    ],
    [
      'that excludes the shared comes before them',
      [own('own', 0, { excludesShared: true }), shared],
      ['own', 'shared'],
    ],
    [
      'that excludes the shared waits behind own keys',
      [own('own', 0, { excludesShared: true }), own('other', 1, { isOpen: false }), shared],
      ['other', 'own', 'shared'],
    ],
    ['keeps its place among its like', [own('one', 0), own('two', 1), shared], ['shared', 'one', 'two']],
    [
      'comes before the fallbacks',
      [own('own', 0), own('fallback', 0, { isOpen: false, isFallback: true }), shared],
      ['shared', 'own', 'fallback'],
    ],
  ])('%s', (_name, candidates, expected) => {
    expect(order(candidates)).toEqual(expected);
  });

  it('is tried first without fallbacks', () => {
    expect(order([own('own', 0), shared], { allowFallbacks: false })).toEqual(['own', 'shared']);
  });

  it('is tried first by one call in five seconds', () => {
    const candidates = [
      createCandidate('own', { health: createOutage(NOW), credential: createOwnCredential(0) }),
      shared,
    ];
    expect([order(candidates), order(candidates)]).toEqual([
      ['own', 'shared'],
      ['shared', 'own'],
    ]);
  });
});
