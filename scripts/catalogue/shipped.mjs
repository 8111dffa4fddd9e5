// The endpoints of catalogue/ with their price rows, by provider and upstream name.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { toPico } from './decimal.mjs';
import { offerKey } from './read-list.mjs';

const CATALOGUE = new URL('../../catalogue/', import.meta.url);
const KINDS = ['models', 'chat_models'];

export function readShipped(directory = CATALOGUE) {
  const files = readdirSync(fileURLToPath(directory), { recursive: true }).filter((name) =>
    name.endsWith('.yaml'),
  );
  return shippedOf(
    files.map((name) => parse(readFileSync(new URL(name, directory), 'utf8'), { maxAliasCount: -1 })),
  );
}

/** `documents`: of the format of docs/catalogue.example.yaml. */
export function shippedOf(documents) {
  const endpoints = new Map();
  for (const document of documents)
    for (const kind of KINDS)
      for (const { id, endpoints: listed } of document[kind] ?? [])
        for (const { provider, tag, upstream_model: model, prices } of listed)
          endpoints.set(offerKey(provider, model), {
            id,
            kind,
            provider,
            tag,
            model,
            written: prices,
            rows: prices.map(rowOf),
          });
  return endpoints;
}

function rowOf({
  effective_from: from,
  usd_per_million_tokens: prices,
  tiers = [],
  service_tiers: named = {},
}) {
  return {
    from,
    ...tieredOf({ usd_per_million_tokens: prices, tiers }),
    serviceTiers: Object.fromEntries(Object.entries(named).map(([name, tier]) => [name, tieredOf(tier)])),
  };
}

function tieredOf({ usd_per_million_tokens: prices, tiers = [] }) {
  return {
    amounts: amountsOf(prices),
    tiers: tiers.map(({ min_prompt_tokens: above, usd_per_million_tokens: tier }) => ({
      above,
      amounts: amountsOf(tier),
    })),
  };
}

function amountsOf(prices = {}) {
  const named = typeof prices === 'object' ? prices : { prompt: prices };
  return Object.fromEntries(Object.entries(named).map(([name, written]) => [name, toPico(written)]));
}
