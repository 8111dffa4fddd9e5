/** `prices`: [name, price, tokens above which it holds]; undefined: it holds for every prompt. */
export function groupByTier(prices) {
  const amounts = {};
  const tiers = new Map();
  for (const [name, price, above] of prices) {
    if (above !== undefined && !tiers.has(above)) tiers.set(above, {});
    (tiers.get(above) ?? amounts)[name] = price;
  }
  return { amounts, tiers: [...tiers].map(([above, tier]) => ({ above, amounts: tier })) };
}
