// Judges the texts that vectors travel as, in WebAssembly: what assembly/vector-texts.ts has to tell about them.
import { WASM } from './generated/vector-texts.js';

/** As far as it is used here: TypeScript knows it by the library of browsers only. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

interface VectorTexts {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly TEXT: { readonly value: number };
  readonly countNumbers: (length: number) => number;
  readonly areFinite: (length: number) => number;
}

const { memory, TEXT, countNumbers, areFinite } = new WebAssembly.Instance(
  new WebAssembly.Module(Buffer.from(WASM, 'base64')),
).exports as VectorTexts;
const place = new Uint8Array(memory.buffer, TEXT.value);

// Bytes behind a text that are read as well, whatever they are.
const READ_BEHIND = 63;
const BYTES_AT_ONCE = 16;
/** Six bits of zeros in base64. */
const ZEROS = 'A'.charCodeAt(0);

// There is no place for more.
const LONGEST_TEXT = place.length - READ_BEHIND;

/**
 * How many numbers a JSON array holds, given what stands between its brackets; null where that is no such text, or one that
 * only its values tell about, such as `[]`, `[1e30]` and what is too long.
 */
export function countNumbersOfJson(text: Uint8Array): number | null {
  if (text.length > LONGEST_TEXT) return null;
  place.set(text);
  const count = countNumbers(text.length);
  return count === -1 ? null : count;
}

/**
 * Whether the text is base64 of float32 values that are all finite; null where it is too long, and only its values tell. Its
 * last `padding` characters only fill it up.
 */
export function isBase64OfFinite(text: Uint8Array, padding: number): boolean | null {
  if (text.length > LONGEST_TEXT) return null;
  const length = Math.ceil(text.length / BYTES_AT_ONCE) * BYTES_AT_ONCE;
  place.set(text);
  place.fill(ZEROS, text.length - padding, length);
  return areFinite(length) === 1;
}
