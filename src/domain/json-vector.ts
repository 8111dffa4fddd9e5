// Judges the text of a JSON vector, without making numbers of it where the text alone tells enough.
import { WASM } from './generated/json-numbers.js';

/** As far as it is used here: TypeScript knows it by the library of browsers only. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

/** What assembly/json-numbers.ts exports. */
interface JsonNumbers {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly TEXT: { readonly value: number };
  readonly countNumbers: (length: number) => number;
}

const { memory, TEXT, countNumbers } = new WebAssembly.Instance(
  new WebAssembly.Module(Buffer.from(WASM, 'base64')),
).exports as JsonNumbers;
const place = new Uint8Array(memory.buffer, TEXT.value);
// Bytes behind a text that are read as well, whatever they are.
const READ_BEHIND = 63;

/** How many numbers the text holds, or null when it is not a JSON array of numbers that float32 can hold. */
export function widthOfJsonVector(text: Buffer): number | null {
  if (!isInBrackets(text)) return null;
  const length = text.length - 2;
  if (length + READ_BEHIND > place.length) return widthByValues(text);
  place.set(text.subarray(1, -1));
  const count = countNumbers(length);
  return count === -1 ? widthByValues(text) : count;
}

function widthByValues(text: Buffer): number | null {
  const values = valuesOfJsonVector(text);
  return values && isFiniteVector(values) ? values.length : null;
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

// Of a float32: its exponent, and the least that can be added to one of all ones to reach the sign.
const EXPONENT_BITS = 0x7f800000;
const LEAST_EXPONENT = 0x00800000;

/** Only infinities and NaN have all eight exponent bits set. */
export function isFiniteVector(values: Float32Array): boolean {
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
  const { length } = bits;
  // Four at a time, and without a branch for each: this looks at every number that passes through.
  let sums = 0;
  let at = 0;
  for (; at + 3 < length; at += 4)
    sums |= sumAt(bits, at) | sumAt(bits, at + 1) | sumAt(bits, at + 2) | sumAt(bits, at + 3);
  for (; at < length; at++) sums |= sumAt(bits, at);
  return sums >= 0;
}

/** Negative where all bits of the exponent are set. */
function sumAt(bits: Int32Array, at: number): number {
  return (((bits[at] as number) & EXPONENT_BITS) + LEAST_EXPONENT) | 0;
}
