// Substring search in linear time (Knuth, Morris, Pratt). V8 skips by the last 250 characters of the pattern only, so
// some texts make its search quadratic for longer patterns.
import type { Pieces } from '../regex/regex-program.js';

/** Characters of a pattern that V8 finds in linear time. */
const LONGEST_OF_OWN = 250;
const CHARACTERS_OF_PIECE = 100_000;

/** A test for texts that contain `wanted`. */
export function textHolding(wanted: string): (text: string) => boolean | Pieces<boolean> {
  if (wanted.length <= LONGEST_OF_OWN) return (text) => text.includes(wanted);
  let borders: Uint16Array | null = null;
  return (text) => search(text, wanted, (borders ??= bordersOf(wanted)));
}

function* search(text: string, wanted: string, borders: Uint16Array): Pieces<boolean> {
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    while (matched > 0 && text[at] !== wanted[matched]) matched = borders[matched - 1] ?? 0;
    if (text[at] === wanted[matched]) matched++;
    if (matched === wanted.length) return true;
    if (at % CHARACTERS_OF_PIECE === 0) yield;
  }
  return false;
}

/** For each prefix, by its length less one: the length of its longest border. */
function bordersOf(text: string): Uint16Array {
  const borders = new Uint16Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at++) {
    while (length > 0 && text[at] !== text[length]) length = borders[length - 1] ?? 0;
    if (text[at] === text[length]) length++;
    borders[at] = length;
  }
  return borders;
}
