// Judges the text of a JSON vector, without making numbers of it where the text alone tells enough.
import { widthOfValues } from './finite-vector.js';
import { countNumbersOfJson } from './vector-texts.js';

/** How many numbers the text holds, or null when it is not a JSON array of numbers that float32 can hold. */
export function widthOfJsonVector(text: Buffer): number | null {
  if (!isInBrackets(text)) return null;
  return countNumbersOfJson(text.subarray(1, -1)) ?? widthOfValues(valuesOfJsonVector(text));
}

/** The numbers as float32 has them, infinite ones included; null when the text is not a JSON array of numbers. */
export function valuesOfJsonVector(text: Buffer): Float32Array | null {
  if (!isInBrackets(text)) return null;
  try {
    const values = JSON.parse(text.toString('latin1')) as unknown[];
    return values.every((value) => typeof value === 'number') ? Float32Array.from(values) : null;
  } catch {
    return null;
  }
}

function isInBrackets(text: Buffer): boolean {
  return text[0] === 0x5b && text.at(-1) === 0x5d;
}
