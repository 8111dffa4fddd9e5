// The endpoints of conversations with a prompt cache.
import { describe, expect, it } from '@jest/globals';
import type { ChatPrices } from '../../domain/chat/chat-model.js';
import type { ChatMessage } from '../../domain/chat/chat-request.js';
import { NO_PREFERENCES } from '../../domain/providers/provider-preferences.js';
import { EndpointHealth } from '../endpoints/endpoint-health.js';
import type { Candidate } from '../endpoints/endpoint-order.js';
import type { ChatTarget } from '../endpoint-target.js';
import { conversationOf, StickyRoutes } from './sticky-routes.js';

const MOMENT = { now: 1_000, date: new Date('2026-06-01T12:00:00Z') };
const CACHED: ChatPrices = { prompt: 400n, completion: 1_600n, cacheRead: 100n };

function candidate(provider: string, prices: ChatPrices = CACHED, more: object = {}): Candidate<ChatTarget> {
  const target = {
    model: { id: 'a/model' },
    endpoint: {
      provider,
      upstreamModel: 'model',
      prices: [{ effectiveFrom: '2026-01-01', source: 'this test', ...prices }],
    },
    provider: { slug: provider },
    credential: null,
    ...more,
  } as unknown as ChatTarget;
  return { target, health: new EndpointHealth(), price: prices.prompt };
}

const namesOf = (candidates: readonly Candidate<ChatTarget>[]) =>
  candidates.map(({ target }) => target.endpoint.provider);
const firstOf = (routes: StickyRoutes, ordered: readonly Candidate<ChatTarget>[], conversation: string) =>
  namesOf(routes.prefer(ordered, conversation, MOMENT))[0];

function failOften({ health }: Candidate): void {
  for (let failure = 0; failure < 10; failure++) health.recordFailure(MOMENT.now);
}

describe('the endpoint of a conversation', () => {
  const [one, two, three] = [candidate('one'), candidate('two'), candidate('three')];
  const all = [one, two, three];

  it('is forgotten for no number of conversations of another account', () => {
    const routes = new StickyRoutes();
    const known = Array.from({ length: 20 }, (_none, index) => `small ${index}`);
    const first = new Map(known.map((name) => [name, firstOf(routes, all, name)]));
    const chosen = (name: string) => all.find((other) => namesOf([other])[0] !== first.get(name))!;
    for (const name of known) routes.remember(name, chosen(name).target, MOMENT.now);
    for (let index = 0; index < 40_000; index++) routes.remember(`large ${index}`, one.target, MOMENT.now);
    for (const name of known) expect(firstOf(routes, all, name)).toBe(namesOf([chosen(name)])[0]);
  });

  it('is the same in every replica and in any order of the endpoints', () => {
    for (let index = 0; index < 50; index++) {
      const chosen = firstOf(new StickyRoutes(), all, `conversation ${index}`);
      expect(firstOf(new StickyRoutes(), [three, one, two], `conversation ${index}`)).toBe(chosen);
    }
  });

  it('moves for the conversations of an endpoint that is gone, and for no other', () => {
    for (let index = 0; index < 50; index++) {
      const chosen = firstOf(new StickyRoutes(), all, `conversation ${index}`);
      const left = firstOf(new StickyRoutes(), [one, two], `conversation ${index}`);
      if (chosen !== 'three') expect(left).toBe(chosen);
    }
  });

  it('is chosen by price, like a call without a conversation', () => {
    const cheap = candidate('cheap', { ...CACHED, prompt: 200n });
    const counts = { cheap: 0, one: 0 };
    for (let index = 0; index < 1_000; index++) {
      const chosen = firstOf(new StickyRoutes(), [cheap, one], `conversation ${index}`);
      counts[chosen as keyof typeof counts]++;
    }
    // Half the price has four times the weight.
    expect(counts.cheap / counts.one).toBeGreaterThan(3);
    expect(counts.cheap / counts.one).toBeLessThan(5.5);
  });

  it('is, at one price, one that speaks the wire of the caller', () => {
    const isPreferred = ({ endpoint }: { readonly endpoint: { readonly provider: string } }) =>
      endpoint.provider === 'two';
    const routes = new StickyRoutes();
    const cheap = candidate('cheap', { ...CACHED, prompt: 200n });
    const chosen = Array.from(
      { length: 100 },
      (_none, index) =>
        namesOf(routes.prefer([...all, cheap], `conversation ${index}`, { ...MOMENT, isPreferred }))[0],
    );
    expect(new Set(chosen)).toEqual(new Set(['two', 'cheap']));
  });

  it('is the one that has answered, for ten minutes', () => {
    const routes = new StickyRoutes();
    const chosen = firstOf(routes, all, 'a');
    const other = all.find(({ target }) => target.endpoint.provider !== chosen) ?? one;
    routes.remember('a', other.target, MOMENT.now);
    expect(firstOf(routes, all, 'a')).toBe(other.target.endpoint.provider);
    const later = routes.prefer(all, 'a', { ...MOMENT, now: MOMENT.now + 600_000 });
    expect(namesOf(later)[0]).toBe(chosen);
  });

  it('is lost in an outage', () => {
    const routes = new StickyRoutes();
    const broken = candidate('broken');
    routes.remember('a', broken.target, MOMENT.now);
    expect(firstOf(routes, [one, broken], 'a')).toBe('broken');
    failOften(broken);
    expect(firstOf(routes, [one, broken], 'a')).toBe('one');
  });

  it('needs a cheaper cache, and yields to own keys and to probes', () => {
    const routes = new StickyRoutes();
    const plain = candidate('plain', { prompt: 400n, completion: 1_600n });
    const plainToo = candidate('plain-too', { prompt: 400n, completion: 1_600n });
    expect(namesOf(routes.prefer([plainToo, plain], 'a', MOMENT))).toEqual(['plain-too', 'plain']);
    expect(firstOf(routes, [plain, one], 'a')).toBe('one');
    const own = candidate('own', CACHED, { credential: { id: 'own' } });
    expect(firstOf(routes, [own, one], 'a')).toBe('own');
    const probed = candidate('probed');
    failOften(probed);
    expect(firstOf(routes, [probed, one], 'a')).toBe('probed');
  });
});

describe('a conversation', () => {
  const message = (role: string, content: string) => ({ role, content }) as unknown as ChatMessage;
  const opening = [message('system', 'be brief'), message('user', 'hi')];
  const call = (members: object = {}) => ({
    accountId: 'account',
    sessionId: null,
    request: { messages: opening, promptCacheKey: null },
    ...members,
  });
  const idOf = (members: object = {}, preferences: object = {}) =>
    conversationOf(call(members), { ...NO_PREFERENCES, ...preferences });

  it('is known by its session, else its cache key, else its opening messages', () => {
    const longer = [...opening, message('assistant', 'hello'), message('user', 'and now?')];
    const other = [message('system', 'be long'), message('user', 'hi')];
    expect(idOf({ request: { messages: longer, promptCacheKey: null } })).toBe(idOf());
    expect(idOf({ request: { messages: other, promptCacheKey: null } })).not.toBe(idOf());
    const withKey = { request: { messages: other, promptCacheKey: 'k' } };
    expect(idOf(withKey)).toBe(idOf({ request: { messages: opening, promptCacheKey: 'k' } }));
    expect(idOf({ ...withKey, sessionId: 's' })).toBe(idOf({ sessionId: 's' }));
    expect(idOf({ accountId: 'another' })).not.toBe(idOf());
  });

  it.each([
    ['order', { order: ['one'] }],
    ['sort', { sort: 'price' }],
    ['preferred latency', { preferredMaxLatency: { p50: 1 } }],
  ])('is none where the caller states an %s', (_name, preferences) => {
    expect(idOf({}, preferences)).toBeNull();
  });
});
