// In what order endpoints are tried. Source: docs/contract.md#routing.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import {
  createCandidate,
  createOrderingContext,
  createOutage,
  createOwnCredential,
} from '../../../test/support/routing/endpoints.js';
import { NO_PREFERENCES, SORTS } from '../../domain/providers/provider-preferences.js';
import type { ProviderPreferences } from '../../domain/providers/provider-preferences.js';
import { EndpointHealth } from './endpoint-health.js';
import { orderCandidates } from './endpoint-order.js';
import type { Candidate } from './endpoint-order.js';

const NOW = 1_000_000;
const CONTEXT = createOrderingContext({ now: NOW });

const prefer = (preferences: Partial<ProviderPreferences>): ProviderPreferences => ({
  ...NO_PREFERENCES,
  ...preferences,
});
const namesOf = (candidates: readonly Candidate[]): string[] =>
  candidates.map(({ target }) => target.endpoint.tag ?? target.endpoint.provider);

function order(candidates: readonly Candidate[], preferences: Partial<ProviderPreferences> = {}): string[] {
  return namesOf(orderCandidates(candidates, prefer(preferences), CONTEXT));
}

/** Seeded, so that a failure repeats: mulberry32. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function seen(latencySeconds: number, tokensPerSecond: number): EndpointHealth {
  const health = new EndpointHealth();
  for (let call = 0; call < 10; call++) {
    health.recordSuccess(NOW, latencySeconds * 1000, tokensPerSecond * latencySeconds);
  }
  return health;
}

const candidateLists = fc
  .array(
    fc.record({
      usd: fc.option(fc.constantFrom('0', '0.01', '0.1', '1', '10')),
      isOpen: fc.boolean(),
      own: fc.option(
        fc.record({ position: fc.nat(3), isFallback: fc.boolean(), excludesShared: fc.boolean() }),
      ),
    }),
    { maxLength: 8 },
  )
  .map((list) =>
    list.map(({ usd, isOpen, own }, index) =>
      createCandidate(`provider-${index}`, {
        usd,
        health: isOpen ? createOutage(NOW) : new EndpointHealth(),
        credential: own && createOwnCredential(own.position, own),
      }),
    ),
  );
const preferenceSets = fc
  .record({
    sort: fc.option(fc.constantFrom(...SORTS)),
    order: fc.subarray(['provider-0', 'provider-1', 'unknown']),
    preferredMaxLatency: fc.option(fc.record({ p50: fc.double({ min: 0, max: 10, noNaN: true }) })),
    preferredMinThroughput: fc.option(fc.record({ p90: fc.double({ min: 0, max: 10, noNaN: true }) })),
  })
  .map(prefer);

describe('every ordering', () => {
  it('keeps all candidates, each once', () => {
    fc.assert(
      fc.property(candidateLists, preferenceSets, fc.nat(), (candidates, preferences, seed) => {
        const ordered = orderCandidates(candidates, preferences, { ...CONTEXT, random: seededRandom(seed) });
        expect(ordered).toHaveLength(candidates.length);
        expect(new Set(ordered)).toEqual(new Set(candidates));
      }),
    );
  });

  it('of what works has own keys first in their order, then the shared, then the own fallbacks in their order', () => {
    fc.assert(
      fc.property(candidateLists, preferenceSets, fc.nat(), (candidates, preferences, seed) => {
        const ordered = orderCandidates(candidates, preferences, { ...CONTEXT, random: seededRandom(seed) });
        const ranks = ordered
          .filter(({ health }) => !health.isOpen(NOW))
          .map(({ target: { credential } }) => {
            if (credential === null) return 10;
            return (credential.isFallback ? 20 : 0) + credential.position;
          });
        expect(ranks).toEqual(ranks.toSorted((one, other) => one - other));
      }),
    );
  });

  it('has the own keys that give way to nothing shared before the shared', () => {
    fc.assert(
      fc.property(candidateLists, preferenceSets, (candidates, preferences) => {
        const ranks = orderCandidates(candidates, preferences, CONTEXT).flatMap(
          ({ target: { credential } }) => {
            if (credential === null) return [1];
            return credential.excludesShared && !credential.isFallback ? [0] : [];
          },
        );
        expect(ranks).toEqual(ranks.toSorted((one, other) => one - other));
      }),
    );
  });

  it('without fallbacks has own keys first in their order, whether they work or not', () => {
    fc.assert(
      fc.property(candidateLists, (candidates) => {
        const ordered = orderCandidates(candidates, prefer({ allowFallbacks: false }), CONTEXT);
        const ranks = ordered.map(({ target: { credential } }) => {
          if (credential === null) return 10;
          return (credential.isFallback ? 20 : 0) + credential.position;
        });
        expect(ranks).toEqual(ranks.toSorted((one, other) => one - other));
      }),
    );
  });

  it('without an order begins the shared with one that works, unless it probes one that does not', () => {
    fc.assert(
      fc.property(candidateLists, fc.nat(), (candidates, seed) => {
        const shared = candidates.filter(({ target }) => target.credential === null);
        // Another call has just probed them.
        for (const { health } of shared) health.tryProbe(NOW);
        const ordered = orderCandidates(shared, NO_PREFERENCES, { ...CONTEXT, random: seededRandom(seed) });
        const out = ordered.map(({ health }) => Number(health.isOpen(NOW)));
        expect(out).toEqual(out.toSorted((one, other) => one - other));
      }),
    );
  });
});

describe('by chance', () => {
  it('the first is drawn with weight 1/price², and the others follow by price', () => {
    const candidates = [
      createCandidate('dear', { usd: '3' }),
      createCandidate('cheap', { usd: '1' }),
      createCandidate('middle', { usd: '2' }),
    ];
    const random = seededRandom(42);
    const draws = 20_000;
    const firsts: Record<string, number> = {};
    const orders = new Set<string>();
    for (let draw = 0; draw < draws; draw++) {
      const names = namesOf(orderCandidates(candidates, NO_PREFERENCES, { ...CONTEXT, random }));
      const [first = ''] = names;
      firsts[first] = (firsts[first] ?? 0) + 1;
      orders.add(names.join(' '));
    }
    expect([...orders].toSorted()).toEqual(['cheap middle dear', 'dear cheap middle', 'middle cheap dear']);
    const all = 1 + 1 / 4 + 1 / 9;
    expect((firsts['cheap'] ?? 0) / draws).toBeCloseTo(1 / all, 1.7);
    expect((firsts['middle'] ?? 0) / draws).toBeCloseTo(1 / 4 / all, 1.7);
    expect((firsts['dear'] ?? 0) / draws).toBeCloseTo(1 / 9 / all, 1.7);
  });

  it('own keys change nothing in how the shared ones are drawn', () => {
    const shared = [createCandidate('dear', { usd: '2' }), createCandidate('cheap', { usd: '1' })];
    const own = createCandidate('own', { usd: '0.001', credential: createOwnCredential(0) });
    for (const chance of [0, 0.5, 0.79, 0.81, 0.99]) {
      const context = { ...CONTEXT, random: () => chance };
      expect(namesOf(orderCandidates([own, ...shared], NO_PREFERENCES, context))).toEqual([
        'own',
        ...namesOf(orderCandidates(shared, NO_PREFERENCES, context)),
      ]);
    }
  });

  it('one that is out is tried first by one call in five seconds', () => {
    const candidates = [
      createCandidate('good', { usd: '2' }),
      createCandidate('bad', { usd: '1', health: createOutage(NOW) }),
    ];
    expect([order(candidates), order(candidates)]).toEqual([
      ['bad', 'good'],
      ['good', 'bad'],
    ]);
  });

  it('one that is out is not tried first by a call that has only one try', () => {
    const candidates = [
      createCandidate('good', { usd: '2' }),
      createCandidate('bad', { usd: '1', health: createOutage(NOW) }),
    ];
    expect(order(candidates, { allowFallbacks: false })).toEqual(['good', 'bad']);
  });

  it('one without a known price does not look free', () => {
    const candidates = [createCandidate('unknown', { usd: null }), createCandidate('known', { usd: '1' })];
    const random = seededRandom(7);
    let unknownFirst = 0;
    for (let draw = 0; draw < 2000; draw++) {
      const [first] = orderCandidates(candidates, NO_PREFERENCES, { ...CONTEXT, random });
      if (first?.price === null) unknownFirst++;
    }
    expect(unknownFirst / 2000).toBeCloseTo(0.5, 1);
  });
});

describe('by preference', () => {
  const quick = createCandidate('quick', { usd: '3', health: seen(0.1, 100) });
  const broad = createCandidate('broad', { usd: '2', health: seen(1, 1000) });
  const cheap = createCandidate('cheap', { usd: '1', health: seen(2, 10) });
  const all = [cheap, broad, quick];

  it.each([
    [{ sort: 'price' }, ['cheap', 'broad', 'quick']],
    [{ sort: 'latency' }, ['quick', 'broad', 'cheap']],
    [{ sort: 'throughput' }, ['broad', 'quick', 'cheap']],
    [{ order: ['quick', 'cheap'] }, ['quick', 'cheap', 'broad']],
    [{ sort: 'price', order: ['broad'] }, ['broad', 'cheap', 'quick']],
    [{ sort: 'price', preferredMaxLatency: { p50: 0.5 } }, ['quick', 'cheap', 'broad']],
    [{ sort: 'price', preferredMinThroughput: { p50: 50 } }, ['broad', 'quick', 'cheap']],
    [{ sort: 'price', preferredMaxLatency: { p50: 0.01 } }, ['cheap', 'broad', 'quick']],
  ] satisfies [Partial<ProviderPreferences>, string[]][])('%j: %j', (preferences, expected) => {
    expect(order(all, preferences)).toEqual(expected);
  });

  it('puts slow endpoints before those in an outage, unless one of those is being probed', () => {
    const out = () => createCandidate('out', { health: createOutage(NOW) });
    const probed = out();
    const slowIsWrong = { preferredMaxLatency: { p50: 0.1 } };
    expect(order([probed, cheap], slowIsWrong)).toEqual(['out', 'cheap']);
    expect(order([probed, cheap], slowIsWrong)).toEqual(['cheap', 'out']);
    expect(order([out(), cheap], { ...slowIsWrong, sort: 'price' })).toEqual(['cheap', 'out']);
  });

  it.each(['latency', 'throughput'] as const)('%s tries what is not known, now and then', (sort) => {
    const unknown = () => createCandidate('unknown');
    const one = unknown();
    expect(order([quick, one], { sort })).toEqual(['unknown', 'quick']);
    expect(order([quick, one], { sort })).toEqual(['quick', 'unknown']);
    expect(order([quick, unknown()], { sort, allowFallbacks: false })).toEqual(['quick', 'unknown']);
    const broken = createCandidate('broken', { health: createOutage(NOW) });
    expect(order([quick, broken], { sort })).toEqual(['quick', 'broken']);
  });

  it('exacto puts what works best first', () => {
    const shaky = createCandidate('shaky', { health: seen(1, 1) });
    shaky.health.recordFailure(NOW);
    expect(order([shaky, quick], { sort: 'exacto' })).toEqual(['quick', 'shaky']);
  });

  it('a sort puts what is out behind, and an order does not', () => {
    const out = createCandidate('out', { usd: '0.1', health: createOutage(NOW) });
    expect(order([out, cheap], { sort: 'price' })).toEqual(['cheap', 'out']);
    expect(order([out, cheap], { order: ['out'] })[0]).toBe('out');
  });

  it('of a base slug in an order all variants come, by price', () => {
    const variants = [
      createCandidate('deepinfra', { tag: 'deepinfra/turbo', usd: '2' }),
      createCandidate('openai', { usd: '0.5' }),
      createCandidate('deepinfra', { tag: 'deepinfra/base', usd: '1' }),
    ];
    expect(order(variants, { sort: 'price', order: ['deepinfra'] })).toEqual([
      'deepinfra/base',
      'deepinfra/turbo',
      'openai',
    ]);
  });
});

describe('endpoints of the wire of the caller', () => {
  const other = createCandidate('other', { usd: '1' });
  const native = createCandidate('native', { usd: '1' });
  const second = createCandidate('second', { usd: '1' });
  const cheap = createCandidate('cheap', { usd: '0.5' });
  const isPreferred = ({ provider }: Candidate['target']) => ['native', 'second'].includes(provider.slug);
  const firstOf = (chance: number, candidates: readonly Candidate[], preferences = {}) => {
    const context = { ...CONTEXT, random: () => chance, isPreferred };
    return namesOf(orderCandidates(candidates, prefer(preferences), context))[0];
  };

  it('come first inside one price', () => {
    for (const chance of [0, 0.4, 0.9]) expect(firstOf(chance, [other, native])).toBe('native');
    const context = { ...CONTEXT, isPreferred };
    const ordered = orderCandidates([other, cheap, native], prefer({}), context);
    expect(namesOf(ordered)).toEqual(['cheap', 'native', 'other']);
  });

  it('share the calls of their price', () => {
    expect(firstOf(0, [other, native, second])).toBe('native');
    expect(firstOf(0.9, [other, native, second])).toBe('second');
  });

  it('yield to a better price, to an order and to a sort', () => {
    expect(firstOf(0, [native, cheap])).toBe('cheap');
    expect(firstOf(0, [native, other], { order: ['other'] })).toBe('other');
    const quick = createCandidate('quick', { health: seen(0.1, 10) });
    const slow = createCandidate('native', { health: seen(2, 10) });
    expect(firstOf(0, [slow, quick], { sort: 'latency' })).toBe('quick');
  });

  it('wait behind others while they are out', () => {
    const out = createCandidate('native', { health: createOutage(NOW) });
    expect(firstOf(0, [other, out], { allowFallbacks: false })).toBe('other');
  });
});
