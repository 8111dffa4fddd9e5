// The prices of a chat call: by day, length of the prompt, hour and service tier (docs/contract.md#chat-models).
import { canonicalServiceTier, isStandardTier } from '../domain/chat/service-tier.js';
import type { PicoUsd } from '../domain/spend/money.js';
import { utcDay } from '../domain/spend/spend.js';
import type {
  ChatEndpoint,
  ChatPrices,
  DatedChatPrices,
  PriceTier,
  TieredChatPrices,
} from '../domain/chat/chat-model.js';
import { rowOn } from './catalogue-model.js';

/** Every price of a call, with the absent ones filled in. */
export type EffectiveChatPrices = Required<ChatPrices>;

export interface PricedMoment {
  /** Tokens of the prompt, cached ones included. */
  readonly promptTokens: number;
  /** 0 to 1439. */
  readonly minuteOfDay: number;
  /** The service tier of the request or of the answer; null, `auto` and `default`: the listed prices. */
  readonly serviceTier: string | null;
}

export interface PricedRange {
  readonly maxPromptTokens: number;
  readonly from: Date;
  /** The latest moment at which the call can end. */
  readonly until: Date;
  readonly serviceTier: string | null;
}

const MINUTE_MS = 60_000;
const MINUTES_OF_DAY = 1_440;

/** The prices of a call; null where the catalogue has none for the day or for the service tier. */
export function chatPricesOn(
  endpoint: Pick<ChatEndpoint, 'prices'>,
  day: string,
  { promptTokens, minuteOfDay, serviceTier }: PricedMoment,
): EffectiveChatPrices | null {
  const prices = pricesOfTier(rowOn(endpoint.prices, day), serviceTier);
  return prices && effectivePrices(prices, promptTokens, minuteOfDay);
}

/**
 * Each price at its highest within a range of prompts and moments: prices of different tiers may meet in one result, so
 * that it bounds every call of the range. Null where a moment of the range has no known price.
 */
export function mostExpensiveChatPrices(
  endpoint: Pick<ChatEndpoint, 'prices'>,
  { maxPromptTokens, from, until, serviceTier }: PricedRange,
): EffectiveChatPrices | null {
  let mostExpensive: EffectiveChatPrices | null = null;
  for (const day of daysBetween(from, until)) {
    const prices = pricesOfTier(rowOn(endpoint.prices, day), serviceTier);
    if (!prices) return null;
    for (const minute of minutesToCheck(prices.tiers, day, from, until))
      for (const tokens of lengthsToCheck(prices.tiers, maxPromptTokens))
        mostExpensive = moreExpensive(mostExpensive, effectivePrices(prices, tokens, minute));
  }
  return mostExpensive;
}

export function utcMinute(moment: Date): number {
  return Math.floor(moment.getTime() / MINUTE_MS) % MINUTES_OF_DAY;
}

function pricesOfTier(row: DatedChatPrices | null, serviceTier: string | null): TieredChatPrices | null {
  if (row === null || serviceTier === null || isStandardTier(serviceTier)) return row;
  const { serviceTiers = {} } = row;
  const name = canonicalServiceTier(serviceTier);
  // A provider chooses the name in its answer: `constructor` must find nothing.
  return Object.hasOwn(serviceTiers, name) ? (serviceTiers[name] ?? null) : null;
}

function effectivePrices(
  { tiers = [], ...listed }: TieredChatPrices,
  promptTokens: number,
  minute: number,
): EffectiveChatPrices {
  const prices = { ...listed };
  for (const tier of tiers) {
    if (!applies(tier, promptTokens, minute)) continue;
    const { minPromptTokens: _tokens, utcStart: _start, utcEnd: _end, ...overrides } = tier;
    Object.assign(prices, overrides);
  }
  return withAbsentPrices(prices);
}

function withAbsentPrices(prices: ChatPrices): EffectiveChatPrices {
  const { prompt, completion } = prices;
  const { cacheRead = prompt, cacheWrite = prompt, audioInput = prompt } = prices;
  return {
    prompt,
    completion,
    cacheRead,
    cacheWrite,
    cacheWrite1h: prices.cacheWrite1h ?? cacheWrite,
    reasoning: prices.reasoning ?? completion,
    audioInput,
    audioInputCached: prices.audioInputCached ?? (prices.audioInput === undefined ? cacheRead : audioInput),
    audioOutput: prices.audioOutput ?? completion,
    image: prices.image ?? 0n,
    request: prices.request ?? 0n,
    webSearch: prices.webSearch ?? 0n,
  };
}

function applies(
  { minPromptTokens = -1, utcStart, utcEnd }: PriceTier,
  tokens: number,
  minute: number,
): boolean {
  if (tokens <= minPromptTokens) return false;
  if (utcStart === undefined && utcEnd === undefined) return true;
  const start = utcStart ?? 0;
  const end = utcEnd ?? MINUTES_OF_DAY;
  return start <= end ? minute >= start && minute < end : minute >= start || minute < end;
}

function daysBetween(from: Date, until: Date): string[] {
  const days = [utcDay(from)];
  const midnight = new Date(from);
  const last = utcDay(until);
  for (;;) {
    midnight.setUTCHours(24, 0, 0, 0);
    const day = utcDay(midnight);
    if (day > last) return days;
    days.push(day);
  }
}

/** The first minute of the range on the day, and every later one at which a tier begins or ends. */
function minutesToCheck(tiers: readonly PriceTier[] = [], day: string, from: Date, until: Date): number[] {
  const first = day === utcDay(from) ? utcMinute(from) : 0;
  const last = day === utcDay(until) ? utcMinute(until) : MINUTES_OF_DAY - 1;
  const changes = tiers.flatMap(({ utcStart, utcEnd }) => [utcStart ?? 0, utcEnd ?? 0]);
  return [...new Set([first, ...changes.filter((minute) => minute > first && minute <= last)])];
}

/** The longest prompt, and the longest one below each tier: a tier may also be cheaper. */
function lengthsToCheck(tiers: readonly PriceTier[] = [], maxPromptTokens: number): number[] {
  const below = tiers.flatMap(({ minPromptTokens }) => minPromptTokens ?? []);
  return [...new Set([maxPromptTokens, ...below.filter((tokens) => tokens < maxPromptTokens)])];
}

function moreExpensive(one: EffectiveChatPrices | null, other: EffectiveChatPrices): EffectiveChatPrices {
  if (one === null) return other;
  const most: { -readonly [Name in keyof ChatPrices]-?: PicoUsd } = { ...one };
  for (const name of Object.keys(most) as (keyof ChatPrices)[])
    if (other[name] > most[name]) most[name] = other[name];
  return most;
}
