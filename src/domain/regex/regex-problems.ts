// Why a regular expression of a customer must not be used: it is too large, or no valid RE2.
import { compileRegex } from './regex-program.js';
import { MAX_REGEX_DEPTH, MAX_REGEX_SIZE, MAX_REGEX_SIZE_OF_FILTER, sizeOfRegex } from './regex-size.js';

/** Why a regular expression must not be compiled; null: no known problem. */
export function regexProblem(pattern: string): string | null {
  const { size, depth } = sizeOfRegex(pattern);
  if (depth > MAX_REGEX_DEPTH) return `nests groups ${depth} deep, at most ${MAX_REGEX_DEPTH} are allowed`;
  if (size <= MAX_REGEX_SIZE) return null;
  return (
    `is too large: its repeats, classes and alternatives come to some ${size} instructions, ` +
    `at most ${MAX_REGEX_SIZE} are allowed`
  );
}

/** The same for all regular expressions of a filter together. */
export function regexSumProblem(patterns: readonly string[]): string | null {
  const sum = patterns.reduce((size, pattern) => size + sizeOfRegex(pattern).size, 0);
  if (sum <= MAX_REGEX_SIZE_OF_FILTER) return null;
  return (
    `has regular expressions that come to some ${sum} instructions together, ` +
    `at most ${MAX_REGEX_SIZE_OF_FILTER} are allowed`
  );
}

/** Null for valid RE2. Call it only for patterns without a regexProblem(). */
export function syntaxProblem(pattern: string): string | null {
  try {
    compileRegex(pattern);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
