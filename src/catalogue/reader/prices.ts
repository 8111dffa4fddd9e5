// Reads prices: rows that are in force from a day on, in USD, kept as whole numbers of 10^-12 USD.
import type {
  ChatPrices,
  DatedChatPrices,
  PriceTier,
  TieredChatPrices,
} from '../../domain/chat/chat-model.js';
import { RERANK_UNITS } from '../../domain/rerank/rerank.js';
import type { RerankUnit } from '../../domain/rerank/rerank.js';
import { parseUsd, parseUsdPerMillion } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import type { DatedPrice } from '../catalogue-model.js';
import type { DatedRerankPrice } from '../rerank-model.js';
import type { Cursor, ObjectCursor } from './cursor.js';
import { given, MOST, readDay, readLabel } from './members.js';

const TOKEN_PRICES = {
  prompt: 'prompt',
  completion: 'completion',
  cache_read: 'cacheRead',
  cache_write: 'cacheWrite',
  cache_write_1h: 'cacheWrite1h',
  reasoning: 'reasoning',
  audio_input: 'audioInput',
  audio_input_cached: 'audioInputCached',
  audio_output: 'audioOutput',
} as const satisfies Record<string, keyof ChatPrices>;
const SERVICE_TIERS = ['flex', 'priority', 'scale'];
const AMOUNTS = ['usd_per_million_tokens', 'usd_per_image', 'usd_per_request', 'usd_per_thousand_searches'];

/** Of input tokens. */
export function readTokenPrices(cursor: Cursor): DatedPrice[] {
  return readRows(cursor, (item) => {
    const row = item.object(['effective_from', 'source', 'usd_per_million_tokens']);
    return { ...readOrigin(row), perToken: row.read('usd_per_million_tokens', readPricePerToken) };
  });
}

/** Of a search unit or of a token, as the provider bills. A price in the other unit would be wrong by orders of magnitude. */
export function readRerankPrices(bills: readonly RerankUnit[]): (cursor: Cursor) => DatedRerankPrice[] {
  return (cursor) =>
    readRows(cursor, (item) => {
      const row = item.object(['effective_from', 'source', 'usd_per_search_unit', 'usd_per_million_tokens']);
      const amounts = {
        search_unit: row.optional('usd_per_search_unit', readAmount),
        token: row.optional('usd_per_million_tokens', (member) =>
          member.object(['prompt']).read('prompt', readPricePerToken),
        ),
      };
      const names = bills.map((unit) => UNIT_PRICES[unit]).join(' or ');
      const [unit, ...others] = RERANK_UNITS.filter((name) => amounts[name] !== undefined);
      const amount = unit && amounts[unit];
      if (unit === undefined || amount === undefined) return item.fail(`must have ${names}`);
      if (others.length > 0) item.fail(`must have one price, ${names}`);
      if (!bills.includes(unit))
        item.fail(`must have ${names}, because the provider does not bill ${unit.replace('_', ' ')}s`);
      return { ...readOrigin(row), unit, amount };
    });
}

const UNIT_PRICES: Readonly<Record<RerankUnit, string>> = {
  search_unit: 'usd_per_search_unit',
  token: 'usd_per_million_tokens with prompt',
};

type TokenPrice = (typeof TOKEN_PRICES)[keyof typeof TOKEN_PRICES];

export function readTokenPriceNames(cursor: Cursor): TokenPrice[] {
  const names = Object.keys(TOKEN_PRICES) as (keyof typeof TOKEN_PRICES)[];
  return cursor.list().map((item) => TOKEN_PRICES[item.choice(names)]);
}

/** `needs`: prices that every row must state, because the price that stands in for an absent one is too low. */
export function readChatPrices(needs: readonly (keyof ChatPrices)[]): (cursor: Cursor) => DatedChatPrices[] {
  return (cursor) =>
    readRows(cursor, (item) => {
      const row = readChatRow(item);
      for (const [name, price] of Object.entries(TOKEN_PRICES))
        if (needs.includes(price) && row[price] === undefined)
          item.fail(`usd_per_million_tokens must have ${name}: the endpoint needs it`);
      return row;
    });
}

/** Of which no two begin on one day. */
export function readRows<Row extends { readonly effectiveFrom: string }>(
  cursor: Cursor,
  readRow: (item: Cursor) => Row,
  noun = 'prices',
): Row[] {
  const days = new Set<string>();
  return cursor.list().map((item) => {
    const row = readRow(item);
    if (days.has(row.effectiveFrom)) item.fail(`there are two ${noun} from ${row.effectiveFrom} on`);
    days.add(row.effectiveFrom);
    return row;
  });
}

export function readOrigin(row: ObjectCursor): Pick<DatedPrice, 'effectiveFrom' | 'source'> {
  return { effectiveFrom: row.read('effective_from', readDay), source: row.read('source', readLabel) };
}

function readChatRow(cursor: Cursor): DatedChatPrices {
  const row = cursor.object(['effective_from', 'source', 'tiers', 'service_tiers', ...AMOUNTS]);
  return {
    ...readOrigin(row),
    ...readTieredPrices(cursor, row),
    ...given('serviceTiers', row.optional('service_tiers', readServiceTiers)),
  };
}

function readServiceTiers(cursor: Cursor): Record<string, TieredChatPrices> {
  const object = cursor.object(SERVICE_TIERS);
  return Object.fromEntries(
    SERVICE_TIERS.flatMap((name) => {
      const prices = object.optional(name, (member) =>
        readTieredPrices(member, member.object([...AMOUNTS, 'tiers'])),
      );
      return prices ? [[name, prices] as const] : [];
    }),
  );
}

function readTieredPrices(cursor: Cursor, row: ObjectCursor): TieredChatPrices {
  const { prompt, completion, ...others } = readAmounts(row);
  if (prompt === undefined || completion === undefined)
    return cursor.fail('usd_per_million_tokens must have prompt and completion');
  const tiers = row.optional('tiers', readTiers);
  // Usage adds up the prompts of all rounds of a search: their sum says nothing of the length of one.
  if (others.webSearch !== undefined && tiers?.some((tier) => tier.minPromptTokens !== undefined))
    cursor.fail('usd_per_thousand_searches cannot stand beside tiers with min_prompt_tokens');
  return { prompt, completion, ...others, ...given('tiers', tiers) };
}

function readTiers(cursor: Cursor): PriceTier[] {
  return cursor.list().map(readTier);
}

function readTier(cursor: Cursor): PriceTier {
  const tier = cursor.object(['min_prompt_tokens', 'utc_start', 'utc_end', ...AMOUNTS]);
  const readTokens = (member: Cursor): number => member.integer(0, MOST);
  const condition = {
    ...given('minPromptTokens', tier.optional('min_prompt_tokens', readTokens)),
    ...given('utcStart', tier.optional('utc_start', readMinute)),
    ...given('utcEnd', tier.optional('utc_end', readMinute)),
  };
  if (Object.keys(condition).length === 0) cursor.fail('must have min_prompt_tokens, utc_start or utc_end');
  return { ...condition, ...readAmounts(tier) };
}

function readAmounts(row: ObjectCursor): Partial<ChatPrices> {
  const amounts: { -readonly [Name in keyof ChatPrices]?: PicoUsd } = {};
  row.optional('usd_per_million_tokens', (member) => {
    const object = member.object(Object.keys(TOKEN_PRICES));
    for (const [name, price] of Object.entries(TOKEN_PRICES)) {
      const amount = object.optional(name, readPricePerToken);
      if (amount !== undefined) amounts[price] = amount;
    }
  });
  const image = row.optional('usd_per_image', readAmount);
  const request = row.optional('usd_per_request', readAmount);
  const webSearch = row.optional('usd_per_thousand_searches', readPricePerUse);
  return {
    ...amounts,
    ...given('image', image),
    ...given('request', request),
    ...given('webSearch', webSearch),
  };
}

function readPricePerToken(cursor: Cursor): PicoUsd {
  const written = cursor.decimal();
  // The price of one token must be a whole number of the unit of money.
  if (/\.\d{6}\d*[1-9]/.test(written)) cursor.fail('must have at most 6 decimal places');
  return parseUsdPerMillion(written);
}

/** Of one of a thousand. */
function readPricePerUse(cursor: Cursor): PicoUsd {
  const written = cursor.decimal();
  if (/\.\d{9}\d*[1-9]/.test(written)) cursor.fail('must have at most 9 decimal places');
  return parseUsd(written.replace(/(\.\d{9})\d+$/, '$1')) / 1_000n;
}

function readAmount(cursor: Cursor): PicoUsd {
  const written = cursor.decimal();
  if (/\.\d{12}\d*[1-9]/.test(written)) cursor.fail('must have at most 12 decimal places');
  return parseUsd(written.replace(/(\.\d{12})\d+$/, '$1'));
}

/** `16:30` as the minute of the day; `24:00` is its end. */
function readMinute(cursor: Cursor): number {
  const [hours, minutes] = cursor
    .text(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/, 'a time of the form "HH:MM", in quotes')
    .split(':');
  return Number(hours) * 60 + Number(minutes);
}
