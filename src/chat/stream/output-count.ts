// Counted usage: the tokens of an answer whose provider reports none (docs/contract.md#chat-usage).
import { countTextTokens } from '../../catalogue/text-tokens.js';
import type { Tokenizer } from '../../catalogue/text-tokens.js';
import { typicalTokens } from '../../catalogue/token-count.js';
import type { Pace } from '../../concurrency/yield-queue.js';
import type { OutputCount } from '../kernel/output-texts.js';

export async function countOutputTokens(
  { texts, factor, unreadBytes }: OutputCount,
  tokenizer: Tokenizer | null,
  pace: Pace,
): Promise<number> {
  const counted = await countTextTokens(texts, tokenizer ?? 'o200k', pace);
  return Math.ceil(counted * factor) + typicalTokens(unreadBytes);
}
