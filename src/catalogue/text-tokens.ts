// Counts the tokens of texts of any length, piece by piece, so that small requests are served in between.
import type { Pace } from '../concurrency/yield-queue.js';

export type Tokenizer = 'cl100k' | 'o200k';

type CountTokens = (text: string) => number;

// `<|endoftext|>` in a text is ordinary text. By default the tokenizer throws on it.
const AS_ORDINARY_TEXT = { disallowedSpecial: new Set<string>() };
// UTF-16 units that are counted at once: well below a millisecond.
const PIECE_UNITS = 4_096;
// Counting time grows with the square of a word's length. A longer word is counted in parts, which may add a few tokens.
const LONGEST_WORD_UNITS = 200;
export const LONG_WORD = new RegExp(`\\S{${LONGEST_WORD_UNITS}}|\\s{${LONGEST_WORD_UNITS}}`);

/** Loaded on first use: the tables take half a second and 40 MB. */
export async function loadTokenizer(tokenizer: Tokenizer): Promise<CountTokens> {
  const { countTokens } =
    tokenizer === 'cl100k'
      ? await import('gpt-tokenizer/encoding/cl100k_base')
      : await import('gpt-tokenizer/encoding/o200k_base');
  return (text) => countTokens(text, AS_ORDINARY_TEXT);
}

export async function countTextTokens(
  texts: Iterable<string>,
  tokenizer: Tokenizer,
  pace: Pace,
): Promise<number> {
  const count = await loadTokenizer(tokenizer);
  let tokens = 0;
  for (const text of texts) {
    for (let from = 0; from < text.length;) {
      const to = endOfPiece(text, from);
      const piece = text.slice(from, to);
      tokens += LONG_WORD.test(piece) ? countLongWords(piece, count) : count(piece);
      from = to;
      if (pace.isDue) await pace.yieldNow();
    }
  }
  return tokens;
}

/** Before the space of a word, where every tokenizer begins a token. */
function endOfPiece(text: string, from: number): number {
  const limit = from + PIECE_UNITS;
  if (limit >= text.length) return text.length;
  for (let at = limit; at > from + PIECE_UNITS / 2; at--) {
    if (text[at] === ' ' && isLetter(text.charCodeAt(at - 1)) && isLetter(text.charCodeAt(at + 1))) return at;
  }
  return wholeCharacter(text, limit);
}

function countLongWords(piece: string, count: CountTokens): number {
  let tokens = 0;
  for (let from = 0; from < piece.length;) {
    const to = wholeCharacter(piece, Math.min(from + LONGEST_WORD_UNITS, piece.length));
    tokens += count(piece.slice(from, to));
    from = to;
  }
  return tokens;
}

/** A surrogate pair is not cut. */
function wholeCharacter(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1);
  return at < text.length && unit >= 0xd800 && unit <= 0xdbff ? at - 1 : at;
}

function isLetter(unit: number): boolean {
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
