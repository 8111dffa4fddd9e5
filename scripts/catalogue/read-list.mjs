// Reads a maintained price list into offers: one provider, one exact upstream name, prices in whole 10^-12 USD for a million tokens.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { toPico } from './decimal.mjs';
import { genaiPrices } from './lists/genai-prices.mjs';
import { ourName } from './names.mjs';
import { litellm } from './lists/litellm.mjs';
import { llmgateway } from './lists/llmgateway.mjs';
import { modelsDev } from './lists/models-dev.mjs';
import { portkey } from './lists/portkey.mjs';

const LISTS = [genaiPrices, modelsDev, litellm, portkey, llmgateway];
const MAX_BYTES = 16 * 2 ** 20;
const MAX_OFFERS = 20_000;
/** 1,000 USD for a million tokens. */
const MOST = toPico('1000');
/** Of the offers that were read the last time. */
const LEAST_SHARE = 0.8;

/** A list that cannot be used, as one sentence. */
export class ListError extends Error {}

export function listOf(name) {
  const list = LISTS.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
  if (list) return list;
  throw new ListError(`${name}: is not a list; known are ${LISTS.map((known) => known.name).join(', ')}`);
}

/** `before`: the number of offers of the last reading; 0: it is the first. */
export async function readListFile(list, path, before = 0) {
  try {
    requireSize(path);
    const loaded = await list.load?.(path);
    return readList(list, loaded ?? JSON.parse(readFileSync(path, 'utf8')), before);
  } catch (error) {
    throw error instanceof ListError ? error : new ListError(`${list.name}: ${path}: ${error.message}`);
  }
}

export function readList(list, content, before = 0) {
  const offers = new Map();
  const problems = [];
  for (const row of list.rows(content)) {
    const key = ourName(list.name, offerKey(row.provider, row.model));
    const [provider] = key.split(' ');
    const named = { ...row, provider, model: key.slice(provider.length + 1) };
    try {
      const offer = { ...named, prices: row.prices.map((prices) => readDated(prices, list.shift)) };
      const earlier = offers.get(key);
      if (earlier && !isDeepStrictEqual(earlier.prices, offer.prices))
        throw new Error('is there twice, with two prices');
      offers.set(key, offer);
    } catch (error) {
      problems.push({ list: list.name, provider, model: named.model, problem: error.message });
      // The other row of a name that is there twice counts for nothing either.
      offers.set(key, { ...named, prices: [] });
    }
    if (offers.size > MAX_OFFERS) fail(list, `has more than ${MAX_OFFERS} models`);
  }
  requireUnit(list, offers);
  if (offers.size < before * LEAST_SHARE)
    fail(list, `has ${offers.size} models, below 80 % of the ${before} of the last reading; is it cut off?`);
  return { name: list.name, isDated: list.isDated === true, offers, problems };
}

export function offerKey(provider, model) {
  return `${provider} ${model}`;
}

function requireSize(path) {
  const names = statSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path];
  const size = names.reduce((sum, name) => sum + statSync(name).size, 0);
  if (size > MAX_BYTES) throw new Error(`has ${size} bytes, and the most are ${MAX_BYTES}`);
}

function readDated({ problem, from = null, amounts, tiers = [], serviceTiers = {} }, shift) {
  if (problem) throw new Error(problem);
  if (from !== null && !/^\d{4}-\d{2}-\d{2}$/.test(from)) throw new Error(`${String(from)} is not a day`);
  return {
    from,
    ...readTiered({ amounts, tiers }, shift),
    serviceTiers: Object.fromEntries(
      Object.entries(serviceTiers).map(([name, prices]) => [name, readTiered(prices, shift)]),
    ),
  };
}

function readTiered({ amounts, tiers }, shift) {
  const base = readAmounts(amounts, shift);
  return {
    amounts: base,
    tiers: tiers.map(({ problem, above, amounts: tier }) => {
      if (problem) throw new Error(problem);
      if (!Number.isInteger(above) || above < 0) throw new Error(`a tier begins at ${above} tokens`);
      const longer = readAmounts(tier, shift);
      if (longer.prompt < base.prompt || longer.completion < base.completion)
        throw new Error(`longer prompts than ${above} tokens cost less than shorter ones`);
      return { above, amounts: longer };
    }),
  };
}

function readAmounts(amounts, shift) {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, written]) => {
      const pico = toPico(written, shift);
      if (pico > MOST) throw new Error(`${name} is above 1,000 USD for a million tokens`);
      return [name, pico];
    }),
  );
}

/** Three known prices: a list that has changed its unit has none of them. */
function requireUnit(list, offers) {
  for (const [provider, model, known] of list.anchors) {
    const amounts = offers.get(offerKey(provider, model))?.prices[0]?.amounts;
    for (const [name, price] of Object.entries(known))
      if (amounts?.[name] !== toPico(price))
        fail(list, `${model} has not its known ${name} price of ${price} USD; has the unit changed?`);
  }
}

function fail(list, problem) {
  throw new ListError(`${list.name}: the list ${problem}`);
}
