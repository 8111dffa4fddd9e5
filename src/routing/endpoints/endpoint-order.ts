// Which endpoints may serve a call and in what order they are tried. Source: docs/contract.md#routing.
import { endpointTag } from '../../catalogue/catalogue-model.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import type {
  MaxPrices,
  PercentileBound,
  ProviderPreferences,
  Sort,
} from '../../domain/providers/provider-preferences.js';
import type { EndpointHealth, Percentile, Percentiles } from './endpoint-health.js';
import type { ServingTarget } from '../endpoint-target.js';

export interface Candidate<Target extends ServingTarget = ServingTarget> {
  readonly target: Target;
  readonly health: EndpointHealth;
  /** For one token, on the day of the call; null: not known. */
  readonly price: PicoUsd | null;
}

export interface OrderingContext<Target extends ServingTarget = ServingTarget> {
  readonly now: number;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** An endpoint that comes before others of its price; absent: none does. */
  isPreferred?(target: Target): boolean;
  /** Whether every parameter of the call is one that the endpoint knows. */
  readonly supportsAllParameters: (target: Target) => boolean;
  /** False as well where a bounded price is not known. */
  readonly staysWithin: (bounds: MaxPrices, target: Target) => boolean;
}

type ChoiceContext = Pick<OrderingContext, 'now' | 'random' | 'isPreferred'>;

/** A base slug matches all its variants (`deepinfra` matches `deepinfra/turbo`), a full slug only itself. */
export function slugMatches(slug: string, { endpoint }: ServingTarget): boolean {
  const wanted = slug.toLowerCase();
  const tag = endpointTag(endpoint).toLowerCase();
  return wanted === tag || tag.startsWith(`${wanted}/`);
}

/** A customer knows what was agreed on for the own account. */
export function keepsNothing({
  endpoint: { dataPolicy },
  credential,
}: Pick<ServingTarget, 'endpoint' | 'credential'>): boolean {
  return credential?.declaredZdr ?? !(dataPolicy.retainsPrompts || dataPolicy.trains);
}

/** The candidates that the caller's preferences leave. */
export function filterCandidates<Target extends ServingTarget>(
  candidates: readonly Candidate<Target>[],
  preferences: ProviderPreferences,
  context: OrderingContext<Target>,
): Candidate<Target>[] {
  const { only, ignore, order, quantizations } = preferences;
  const isIn = (slugs: readonly string[], target: ServingTarget) =>
    slugs.some((slug) => slugMatches(slug, target));
  return candidates.filter(({ target }) => {
    const { dataPolicy, quantization } = target.endpoint;
    if (only.length > 0 && !isIn(only, target)) return false;
    if (isIn(ignore, target)) return false;
    // Without fallbacks, an order is also the list of who may serve at all.
    if (!preferences.allowFallbacks && order.length > 0 && !isIn(order, target)) return false;
    if (preferences.requireParameters && !context.supportsAllParameters(target)) return false;
    if (preferences.denyDataCollection && dataPolicy.trains) return false;
    if (preferences.zeroDataRetention && !keepsNothing(target)) return false;
    if (quantizations.length > 0 && !quantizations.includes(quantization ?? 'unknown')) return false;
    return preferences.maxPrices === null || context.staysWithin(preferences.maxPrices, target);
  });
}

/**
 * Best first. Own provider keys come before the shared ones whatever `order` says, those kept as fallbacks after them;
 * among themselves they keep the order that their workspace gave them. Own keys in an outage wait behind the own keys that
 * work, and behind the shared endpoints that work where those may take over from them.
 */
export function orderCandidates<One extends Candidate>(
  candidates: readonly One[],
  preferences: ProviderPreferences,
  context: ChoiceContext,
): One[] {
  if (candidates.length <= 1) return [...candidates];
  const own: One[] = [];
  const shared: One[] = [];
  const fallbacks: One[] = [];
  for (const candidate of candidates) {
    const { credential } = candidate.target;
    if (credential === null) shared.push(candidate);
    else (credential.isFallback ? fallbacks : own).push(candidate);
  }
  const ordered = (group: readonly One[]) => orderAlike(group, preferences, context);
  const inPosition = (group: readonly One[]) =>
    ordered(group).toSorted((one, other) => positionOf(one) - positionOf(other));
  const isWorking = ({ health }: Candidate): boolean => !health.isOpen(context.now);
  const mayWait = preferences.allowFallbacks && [...own, ...shared].some(isWorking);
  const waiting = own.filter(
    (candidate) => mayWait && !isWorking(candidate) && !candidate.health.tryProbe(context.now),
  );
  const yieldsToShared = ({ target: { credential } }: Candidate): boolean =>
    credential?.excludesShared === false;
  const sharedInOrder = ordered(shared);
  const working = sharedInOrder.slice(0, sharedInOrder.findLastIndex(isWorking) + 1);
  return [
    ...inPosition(own.filter((candidate) => !waiting.includes(candidate))),
    ...inPosition(waiting.filter((candidate) => !yieldsToShared(candidate))),
    ...working,
    ...inPosition(waiting.filter(yieldsToShared)),
    ...sharedInOrder.slice(working.length),
    ...inPosition(fallbacks),
  ];
}

function positionOf({ target: { credential } }: Candidate): number {
  return credential?.position ?? 0;
}

/** By `order`, then by `sort` or by chance and price. */
function orderAlike<One extends Candidate>(
  all: readonly One[],
  preferences: ProviderPreferences,
  context: ChoiceContext,
): One[] {
  // Every later sort is stable: among equals the preferred ones stay first.
  const rank = ({ target }: One) => Number(context.isPreferred?.(target) !== true);
  const candidates = context.isPreferred ? all.toSorted((one, other) => rank(one) - rank(other)) : all;
  const balanced = preferences.sort
    ? explore(preferences, sortBy(preferences.sort, candidates, context.now), context)
    : balance(candidates, preferences, context);
  const listed = preferences.order.flatMap((slug) =>
    balanced.filter(({ target }) => slugMatches(slug, target)),
  );
  const unlisted = deprioritise(balanced, preferences, context.now);
  return [...new Set([...listed, ...unlisted])];
}

function sortBy<One extends Candidate>(sort: Sort, candidates: readonly One[], now: number): One[] {
  const value: Record<Sort, (candidate: Candidate) => number> = {
    price: ({ price }) => (price === null ? Infinity : Number(price)),
    // Nothing is known of the quality of an embedding endpoint but whether it works: what works best comes first.
    exacto: ({ health }) => -(health.uptime(now) ?? 1),
    latency: ({ health }) => health.latency(now)?.p50 ?? Infinity,
    throughput: ({ health }) => -(health.throughput(now)?.p50 ?? 0),
  };
  const out = (candidate: Candidate) => Number(candidate.health.isOpen(now));
  const by = (candidate: Candidate) => value[sort](candidate);
  return candidates.toSorted((one, other) => out(one) - out(other) || compare(by(one), by(other)));
}

function compare(one: number, other: number): number {
  // Infinity minus Infinity is no number.
  return one === other ? 0 : one - other;
}

/** An endpoint without figures would stay last for ever: now and then it is tried first. */
function explore<One extends Candidate>(
  { sort, allowFallbacks }: ProviderPreferences,
  candidates: One[],
  { now }: Pick<OrderingContext, 'now'>,
): One[] {
  // Without fallbacks a call would be spent on it.
  if (!allowFallbacks || (sort !== 'latency' && sort !== 'throughput')) return candidates;
  const unknown = candidates.find(
    ({ health }) => health.latency(now) === null && !health.isOpen(now) && health.tryProbe(now),
  );
  return unknown ? startingWith(unknown, candidates) : candidates;
}

function startingWith<One extends Candidate>(first: One, candidates: readonly One[]): One[] {
  return [first, ...candidates.filter((candidate) => candidate !== first)];
}

/** The first by chance, weighted by 1/price², among those that are not out; then the others by price; then the out. */
function balance<One extends Candidate>(
  candidates: readonly One[],
  { allowFallbacks }: ProviderPreferences,
  { now, random, isPreferred }: ChoiceContext,
): One[] {
  if (candidates.length <= 1) return [...candidates];
  const isOpen = new Map(candidates.map((candidate) => [candidate, candidate.health.isOpen(now)]));
  const healthy = sortBy(
    'price',
    candidates.filter((candidate) => !isOpen.get(candidate)),
    now,
  );
  const out = candidates.filter((candidate) => isOpen.get(candidate));
  const mayProbe = allowFallbacks && healthy.length > 0;
  const probe = out.find(({ health }) => mayProbe && health.tryProbe(now));
  const choose = (): One | undefined => {
    const picked = pickByPrice(healthy, random());
    const alike = picked ? preferredLike(picked, healthy, isPreferred) : [];
    return alike.length > 1 ? pickByPrice(alike, random()) : alike[0];
  };
  const first = probe ?? choose();
  return first ? startingWith(first, [...healthy, ...out]) : out;
}

/** The preferred candidates of the chosen one's price; itself where it is preferred already, or none is. */
export function preferredLike<One extends Candidate>(
  chosen: One,
  candidates: readonly One[],
  isPreferred: ChoiceContext['isPreferred'],
): readonly One[] {
  if (!isPreferred || isPreferred(chosen.target)) return [chosen];
  const alike = candidates.filter(({ price, target }) => price === chosen.price && isPreferred(target));
  return alike.length > 0 ? alike : [chosen];
}

/** 1/price². */
export function priceWeights(candidates: readonly Candidate[]): readonly number[] {
  // A free endpoint is not infinitely better, and one without a price must not look free.
  const known = candidates.map(({ price }) => price).filter((price) => price !== null && price > 0n);
  const mostExpensive = known.reduce<bigint>(
    (most, price) => (price !== null && price > most ? price : most),
    1n,
  );
  return candidates.map(
    ({ price }) => 1 / Math.max(Number(price ?? mostExpensive) / Number(mostExpensive), 0.01) ** 2,
  );
}

function pickByPrice<One extends Candidate>(candidates: readonly One[], chance: number): One | undefined {
  const weights = priceWeights(candidates);
  let rest = chance * weights.reduce((sum, weight) => sum + weight, 0);
  return candidates.find((_candidate, index) => (rest -= weights[index] ?? 0) < 0) ?? candidates[0];
}

/** Moves those behind that are slower than the caller would like, before what is out; none is left out. */
function deprioritise<One extends Candidate>(
  candidates: readonly One[],
  preferences: ProviderPreferences,
  now: number,
): One[] {
  const { preferredMaxLatency, preferredMinThroughput } = preferences;
  if (!preferredMaxLatency && !preferredMinThroughput) return [...candidates];
  const isSlow = ({ health }: Candidate): boolean =>
    misses(health.latency(now), preferredMaxLatency, (value, bound) => value > bound) ||
    misses(health.throughput(now), preferredMinThroughput, (value, bound) => value < bound);
  const [first] = candidates;
  const rank = (candidate: Candidate): number => {
    const isOpen = candidate.health.isOpen(now);
    // One that is out and yet comes first is being probed.
    return isOpen && candidate === first ? -1 : 2 * Number(isOpen) + Number(isSlow(candidate));
  };
  return candidates.toSorted((one, other) => rank(one) - rank(other));
}

function misses(
  seen: Percentiles | null,
  bound: PercentileBound | null,
  isMissed: (value: number, limit: number) => boolean,
): boolean {
  if (!seen || !bound) return false;
  return Object.entries(bound).some(([percentile, limit]) => isMissed(seen[percentile as Percentile], limit));
}
