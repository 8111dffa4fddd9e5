import { expect, it } from '@jest/globals';
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';
import { NEVER_YIELD } from '../concurrency/yield-queue.js';
import { countTextTokens } from './text-tokens.js';

const COUNTERS = { cl100k: countCl100k, o200k: countO200k };
const PROSE = 'The quick brown fox jumps over the lazy dog; 12,345 times.\nAnd é, 🙂 and 漢字 as well. ';

it.each(['cl100k', 'o200k'] as const)('counts a short text by %s exactly', async (tokenizer) => {
  expect(await countTextTokens([PROSE, 'x'], tokenizer, NEVER_YIELD)).toBe(COUNTERS[tokenizer](PROSE) + 1);
});

it.each(['cl100k', 'o200k'] as const)('counts a long text by %s as if it were not cut', async (tokenizer) => {
  const text = PROSE.repeat(500);
  expect(await countTextTokens([text], tokenizer, NEVER_YIELD)).toBe(COUNTERS[tokenizer](text));
});

it('yields between pieces, and counts words without an end', async () => {
  let yields = 0;
  const pace = {
    isDue: true,
    yieldNow: () => {
      yields++;
      return Promise.resolve();
    },
  };
  const tokens = await countTextTokens(['🙂'.repeat(50_000)], 'o200k', pace);
  expect(tokens).toBeGreaterThanOrEqual(50_000);
  expect(tokens).toBeLessThan(120_000);
  expect(yields).toBeGreaterThanOrEqual(24);
});

it('takes special tokens as ordinary text', async () => {
  expect(await countTextTokens(['<|endoftext|>'], 'o200k', NEVER_YIELD)).toBeGreaterThan(1);
});
