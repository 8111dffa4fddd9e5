// The parts of what the caller pays. The record has those of the price at the provider, which its owner pays through an own
// provider key, and of which the caller pays a part above the bound of the call.
import type { ChatFacts } from '../chat/chat-outcome.js';
import type { PicoUsd } from '../spend/money.js';

type CostParts = Pick<
  ChatFacts,
  'promptCost' | 'completionCost' | 'cachedCost' | 'cacheWriteCost' | 'reasoningCost'
>;

/** Both sides add up to the charge exactly, and no part exceeds its side. Unchanged where no price is known. */
export function chargedParts(facts: CostParts, charge: PicoUsd | null): CostParts {
  const { promptCost, completionCost, cachedCost, cacheWriteCost, reasoningCost } = facts;
  const parts = { promptCost, completionCost, cachedCost, cacheWriteCost, reasoningCost };
  if (charge === null || promptCost === null || completionCost === null) return parts;
  const whole = promptCost + completionCost;
  if (whole === charge || whole === 0n) return parts;
  const shareOf = (part: PicoUsd): PicoUsd => (part * charge) / whole;
  const prompt = shareOf(promptCost);
  return {
    promptCost: prompt,
    completionCost: charge - prompt,
    cachedCost: cachedCost && shareOf(cachedCost),
    cacheWriteCost: cacheWriteCost && shareOf(cacheWriteCost),
    reasoningCost: reasoningCost && shareOf(reasoningCost),
  };
}
