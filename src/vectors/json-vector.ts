// Checks the text of a JSON vector, without making numbers of it where the characters suffice.
import { widthOfValues } from './finite-vector.js';
import { countNumbersOfJson } from './vector-texts.js';

// In ASCII.
const COMMA = 0x2c;
const ONE = 0x31;
const NINE = 0x39;
const LOWER_E = 0x65;
const LOWER_CASE = 0x20;

/** Returns the number of values, or null when the text is not a JSON array of numbers that float32 can hold. */
export function widthOfJsonVector(text: Buffer): number | null {
  if (!isInBrackets(text)) return null;
  return countNumbersOfJson(text.subarray(1, -1)) ?? widthOfValues(valuesOfJsonVector(text));
}

/** Returns the numbers as float32, infinite ones included, or null when the text is not a JSON array of numbers. */
export function valuesOfJsonVector(text: Buffer): Float32Array | null {
  if (!isInBrackets(text)) return null;
  try {
    const values = JSON.parse(text.toString('latin1')) as unknown[];
    return values.every((value) => typeof value === 'number') ? Float32Array.from(values) : null;
  } catch {
    return null;
  }
}

/** Returns whether all numbers of a valid text are zeros, -0, 0.0 and 0e5 included. Ends at the first that is not. */
export function isZeroJsonVector(text: Buffer): boolean {
  let isInExponent = false;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number;
    if (byte === COMMA) isInExponent = false;
    else if ((byte | LOWER_CASE) === LOWER_E) isInExponent = true;
    else if (byte >= ONE && byte <= NINE && !isInExponent) return false;
  }
  return true;
}

function isInBrackets(text: Buffer): boolean {
  return text[0] === 0x5b && text.at(-1) === 0x5d;
}
