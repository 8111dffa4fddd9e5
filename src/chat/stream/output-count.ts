// Counted usage: the tokens of an answer whose provider reports none (docs/contract.md#chat-usage).
import { countTextTokens } from '../../catalogue/text-tokens.js';
import type { Tokenizer } from '../../catalogue/text-tokens.js';
import type { Pace } from '../../concurrency/yield-queue.js';

export interface OutputCount {
  /** Content, reasoning, refusals, names and arguments of tool calls, as far as they are kept. */
  readonly texts: readonly string[];
  /** The ratio of all bytes to those that are kept: texts beyond the bound count at the rate of the others. */
  readonly factor: number;
}

export async function countOutputTokens(
  { texts, factor }: OutputCount,
  tokenizer: Tokenizer | null,
  pace: Pace,
): Promise<number> {
  return Math.ceil((await countTextTokens(texts, tokenizer ?? 'o200k', pace)) * factor);
}
