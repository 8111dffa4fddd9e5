// Names of service tiers.
const STANDARD_TIERS: ReadonlySet<string | null> = new Set([null, 'auto', 'default', 'standard']);

/** Whether a tier has the listed prices. */
export function isStandardTier(tier: string | null): boolean {
  return STANDARD_TIERS.has(tier);
}

/** OpenRouter's `fast` is OpenAI's `priority`. */
export function canonicalServiceTier(tier: string): string {
  return tier === 'fast' ? 'priority' : tier;
}
