// Checks the texts that vectors travel as, in WebAssembly (assembly/vector-texts.ts).
import { WASM } from './generated/vector-texts.js';

/** The part in use: TypeScript declares WebAssembly in the library of browsers only. */
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

// The kernel also reads so many bytes behind a text, with any content.
const READ_BEHIND = 63;
const BYTES_AT_ONCE = 16;
/** Six bits of zeros in base64. */
const ZEROS = 'A'.charCodeAt(0);

// The memory has no room for more.
const LONGEST_TEXT = place.length - READ_BEHIND;

/**
 * Counts the numbers in the text between the brackets of a JSON array. Returns null for any other text, for one whose
 * values must be read, such as `[]` and `[1e30]`, and for one that is too long.
 */
export function countNumbersOfJson(text: Uint8Array): number | null {
  if (text.length > LONGEST_TEXT) return null;
  place.set(text);
  const count = countNumbers(text.length);
  return count === -1 ? null : count;
}

/**
 * Returns whether the text is base64 of float32 values that are all finite, or null where it is too long. Its last
 * `padding` characters only fill it up.
 */
export function isBase64OfFinite(text: Uint8Array, padding: number): boolean | null {
  if (text.length > LONGEST_TEXT) return null;
  const length = Math.ceil(text.length / BYTES_AT_ONCE) * BYTES_AT_ONCE;
  place.set(text);
  place.fill(ZEROS, text.length - padding, length);
  return areFinite(length) === 1;
}
