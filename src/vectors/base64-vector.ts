// Checks and decodes vectors that travel as little-endian float32 in base64.
import { areZeros, widthOfValues } from './finite-vector.js';
import { isBase64OfFinite } from './vector-texts.js';

// In ASCII.
const EQUALS = 0x3d;
const MINUS = 0x2d;
const UNDERSCORE = 0x5f;

// The characters in the text of 0 and -0, whose bytes are 0 but for the last of -0, which is 0x80.
const CHARACTERS_OF_ZEROS = new Set(Buffer.from('AgIC='));

const BYTES_PER_VALUE = 4;

/** Returns the number of values, or null when the text is not padded base64 of whole and finite float32 values. */
export function widthOfBase64Vector(text: Buffer): number | null {
  const padding = paddingOf(text);
  const width = valuesIn(text, padding);
  if (width === null) return null;
  const isRight = isBase64OfFinite(text, padding);
  if (isRight === null) return widthOfValues(valuesOfBase64Vector(text));
  return isRight ? width : null;
}

/** Returns whether all values of a valid text are zeros, -0 included. Usually ends at the first value that is not. */
export function isZeroBase64Vector(text: Buffer): boolean {
  for (let at = 0; at < text.length; at++) if (!CHARACTERS_OF_ZEROS.has(text[at] as number)) return false;
  const values = valuesOfBase64Vector(text);
  return values !== null && areZeros(values);
}

/** Returns the values, infinite ones included, or null when the text is not padded base64 of whole float32 values. */
export function valuesOfBase64Vector(text: Buffer): Float32Array | null {
  const width = valuesIn(text, paddingOf(text));
  if (width === null) return null;
  // Only memory outside the pool is aligned for floats.
  const values = Buffer.allocUnsafeSlow(width * BYTES_PER_VALUE);
  // The decoder skips characters that are not base64, so a wrong one changes the length. It also accepts the URL alphabet.
  const written = values.write(text.toString('latin1'), 'base64');
  if (written !== values.length || text.includes(MINUS) || text.includes(UNDERSCORE)) return null;
  return new Float32Array(values.buffer, values.byteOffset, width);
}

function paddingOf(text: Buffer): number {
  return text.at(-1) !== EQUALS ? 0 : text.at(-2) === EQUALS ? 2 : 1;
}

/** Computed from the length alone; null when that cannot be base64 of whole values. */
function valuesIn(text: Buffer, padding: number): number | null {
  const bytes = (text.length / 4) * 3 - padding;
  return text.length % 4 === 0 && bytes % BYTES_PER_VALUE === 0 ? bytes / BYTES_PER_VALUE : null;
}
