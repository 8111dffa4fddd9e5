// The cost of a chat by class of tokens.
import type { ChatFacts } from '../../domain/chat/chat-outcome.js';
import { usdOrNull } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import { EnumField, IntegerField, UsdField } from '../../http/fields/scalar-fields.js';

const COST_PARTS = ['prompt', 'cached', 'cache_write', 'cache_write_1h', 'completion', 'reasoning'] as const;
type CostPart = (typeof COST_PARTS)[number];

export class CostPartDto {
  @EnumField(COST_PARTS) part: CostPart;
  @IntegerField({ description: 'As charged; no token is in two parts.' }) tokens: number;
  @UsdField({ nullable: true, description: 'USD at the provider. Null: no price is known.' }) cost:
    number | null;
}

export function costPartsOf(chat: ChatFacts, promptTokens: number): CostPartDto[] {
  const { cachedTokens, cacheWriteTokens, cacheWrite1hTokens, completionTokens, reasoningTokens } = chat;
  const { promptCost, completionCost, cachedCost, cacheWriteCost, cacheWrite1hCost, reasoningCost } = chat;
  const rest = (whole: PicoUsd | null, ...parts: readonly (PicoUsd | null)[]): PicoUsd | null =>
    whole && parts.reduce<PicoUsd>((left, part) => left - (part ?? 0n), whole);
  const parts: readonly (readonly [CostPart, number, PicoUsd | null])[] = [
    ['prompt', promptTokens - cachedTokens - cacheWriteTokens, rest(promptCost, cachedCost, cacheWriteCost)],
    ['cached', cachedTokens, cachedCost],
    ['cache_write', cacheWriteTokens - cacheWrite1hTokens, rest(cacheWriteCost, cacheWrite1hCost)],
    ['cache_write_1h', cacheWrite1hTokens, cacheWrite1hCost],
    ['completion', completionTokens - reasoningTokens, rest(completionCost, reasoningCost)],
    ['reasoning', reasoningTokens, reasoningCost],
  ];
  return parts
    .filter(([, tokens, cost]) => tokens > 0 || (cost ?? 0n) > 0n)
    .map(([part, tokens, cost]) => ({ part, tokens, cost: usdOrNull(cost) }));
}
