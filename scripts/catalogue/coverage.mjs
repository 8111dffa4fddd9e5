// The table of docs/catalogue.md: which of the models that a list has are shipped, and which of our prices a list has alike.
import { inForce } from './compare.mjs';

/** The same models by other names, at other prices: inference profiles of one part of the world, and names that move. */
const OTHER_NAME = /^(?:apac|au|ca|eu|in|jp|us|us-gov)\.|latest/;
const START = '<!-- coverage -->\n';
const END = '<!-- /coverage -->';

/** `lists`: of readList. Chat models of `year` that a list still sells, by provider; and prices that both state. */
export function coverageOf(shipped, lists, today, year) {
  return {
    released: lists.flatMap((list) => releasedIn(list, shipped, year)),
    prices: lists.map(({ name, offers }) => ({ list: name, ...pricesOf(shipped, offers, today) })),
  };
}

function releasedIn({ name, offers }, shipped, year) {
  const counts = new Map();
  for (const [key, { provider, model, released, isChat, isDeprecated, prices }] of offers) {
    if (!released?.startsWith(year) || !isChat || isDeprecated || OTHER_NAME.test(model)) continue;
    if (prices.length === 0) continue;
    const count = counts.get(provider) ?? { list: name, provider, all: 0, listed: 0 };
    count.all += 1;
    if (shipped.has(key)) count.listed += 1;
    counts.set(provider, count);
  }
  return [...counts.values()].toSorted((one, other) => (one.provider < other.provider ? -1 : 1));
}

function pricesOf(shipped, offers, today) {
  let both = 0;
  let equal = 0;
  for (const [key, { rows, kind }] of shipped) {
    const theirs = inForce(offers.get(key)?.prices ?? [], today)?.amounts;
    const ours = inForce(rows, today)?.amounts;
    if (theirs?.prompt === undefined || ours === undefined) continue;
    both += 1;
    const isAlike = kind === 'models' || theirs.completion === ours.completion;
    if (theirs.prompt === ours.prompt && isAlike) equal += 1;
  }
  return { both, equal };
}

/** In Markdown. */
export function tableOf({ released, prices }, year) {
  const sum = (name) => released.reduce((total, count) => total + count[name], 0);
  return [
    `| Provider | Released in ${year} | Shipped |`,
    '| --- | --- | --- |',
    ...released.map(({ provider, all, listed }) => `| ${provider} | ${all} | ${listed} |`),
    `| **all** | **${sum('all')}** | **${sum('listed')}** |`,
    '',
    '| List | Endpoints in both | Prompt and answer cost the same |',
    '| --- | --- | --- |',
    ...prices.map(({ list, both, equal }) => `| ${list} | ${both} | ${equal} |`),
    '',
  ].join('\n');
}

/** A page with another table between its marks. */
export function replaceTable(page, table) {
  const start = page.indexOf(START);
  const end = page.indexOf(END);
  if (start === -1 || end < start) throw new Error(`the page lacks ${START.trim()} or ${END}`);
  return `${page.slice(0, start + START.length)}\n${table}\n${page.slice(end)}`;
}
