// Judges and reads vectors that travel as little-endian float32 in base64.
import { areZeros, widthOfValues } from './finite-vector.js';
import { isBase64OfFinite } from './vector-texts.js';

// Of ASCII.
const EQUALS = 0x3d;
const MINUS = 0x2d;
const UNDERSCORE = 0x5f;

// What the text of 0 and -0 has, whose bytes are 0 but for the last of -0, which is 0x80.
const CHARACTERS_OF_ZEROS = new Set(Buffer.from('AgIC='));

const BYTES_PER_VALUE = 4;

/** How many numbers the text holds, or null when it is not base64, padding included, of whole and finite float32 values. */
export function widthOfBase64Vector(text: Buffer): number | null {
  const padding = paddingOf(text);
  const width = valuesIn(text, padding);
  if (width === null) return null;
  const isRight = isBase64OfFinite(text, padding);
  if (isRight === null) return widthOfValues(valuesOfBase64Vector(text));
  return isRight ? width : null;
}

/** Whether all values of a text that is right are zeros, -0 included. Mostly ends within the first one that is not. */
export function isZeroBase64Vector(text: Buffer): boolean {
  for (let at = 0; at < text.length; at++) if (!CHARACTERS_OF_ZEROS.has(text[at] as number)) return false;
  const values = valuesOfBase64Vector(text);
  return values !== null && areZeros(values);
}

/** Its values, infinite ones included; null when the text is not base64, padding included, of whole float32 values. */
export function valuesOfBase64Vector(text: Buffer): Float32Array | null {
  const width = valuesIn(text, paddingOf(text));
  if (width === null) return null;
  // Memory that is not pooled begins where a float may.
  const values = Buffer.allocUnsafeSlow(width * BYTES_PER_VALUE);
  // The decoder skips what is not base64, so that a wrong character shows in the length; it also takes the URL alphabet.
  const written = values.write(text.toString('latin1'), 'base64');
  if (written !== values.length || text.includes(MINUS) || text.includes(UNDERSCORE)) return null;
  return new Float32Array(values.buffer, values.byteOffset, width);
}

function paddingOf(text: Buffer): number {
  return text.at(-1) !== EQUALS ? 0 : text.at(-2) === EQUALS ? 2 : 1;
}

/** By its length alone; null when that cannot be base64 of whole values. */
function valuesIn(text: Buffer, padding: number): number | null {
  const bytes = (text.length / 4) * 3 - padding;
  return text.length % 4 === 0 && bytes % BYTES_PER_VALUE === 0 ? bytes / BYTES_PER_VALUE : null;
}
