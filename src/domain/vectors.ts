// Vectors in the three forms they travel in, and the conversions between them. A vector stays the bytes that it came as
// until a conversion is asked for: turning every number into a JavaScript value is what makes gateways slow.
import type { EncodingFormat } from './embedding.js';
import { isFiniteVector, valuesOfJsonVector, widthOfJsonVector } from './json-vector.js';

// Of ASCII.
const EQUALS = 0x3d;
const MINUS = 0x2d;
const UNDERSCORE = 0x5f;

export type Vector =
  /** A JSON array of numbers as text, brackets included. */
  | { readonly form: 'json'; readonly text: Buffer }
  /** Little-endian float32 in base64, without quotes. */
  | { readonly form: 'base64'; readonly text: Buffer }
  | { readonly form: 'floats'; readonly values: Float32Array };

/** How many numbers the vector has, or null when it is not a vector of finite numbers at all. */
export function vectorWidth(vector: Vector): number | null {
  switch (vector.form) {
    case 'floats':
      return isFiniteVector(vector.values) ? vector.values.length : null;
    case 'base64': {
      // Nothing is kept: the next one is decoded to the same place.
      const values = floatsOfBase64(vector.text, workplaceFor(vector.text));
      return values && isFiniteVector(values) ? values.length : null;
    }
    case 'json':
      return widthOfJsonVector(vector.text);
  }
}

/** Throws RangeError when the vector holds anything but finite numbers. */
export function vectorValues(vector: Vector): Float32Array {
  const values = decodeVector(vector);
  if (!isFiniteVector(values)) throw new RangeError('not a vector of finite numbers');
  return values;
}

export function encodeVector(vector: Vector, format: EncodingFormat): Buffer {
  if (format === 'base64') {
    return vector.form === 'base64'
      ? vector.text
      : Buffer.from(base64OfFloats(vectorValues(vector)), 'latin1');
  }
  return vector.form === 'json' ? vector.text : Buffer.from(jsonOfFloats(vectorValues(vector)), 'latin1');
}

/** The first `width` numbers, scaled to length one: how a Matryoshka embedding is shortened. */
export function truncateAndNormalise(values: Float32Array, width: number): Float32Array {
  const shortened = values.slice(0, width);
  let squares = 0;
  for (const value of shortened) squares += value * value;
  if (squares === 0) return shortened;
  const scale = 1 / Math.sqrt(squares);
  for (let index = 0; index < shortened.length; index++) shortened[index] = (shortened[index] ?? 0) * scale;
  return shortened;
}

function decodeVector(vector: Vector): Float32Array {
  if (vector.form === 'floats') return vector.values;
  if (vector.form === 'base64') {
    const values = floatsOfBase64(vector.text, placeFor(vector.text));
    if (!values) throw new RangeError('not base64 of float32 values');
    return values;
  }
  const values = valuesOfJsonVector(vector.text);
  if (!values) throw new RangeError('not a vector of finite numbers');
  return values;
}

function base64OfFloats(values: Float32Array): string {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('base64');
}

/** The double that each float32 is, shortened to the nine digits that identify it. */
function jsonOfFloats(values: Float32Array): string {
  const numbers = Array.from(values, (value) => Number(value.toPrecision(9)));
  return JSON.stringify(numbers);
}

const WORKPLACE = Buffer.allocUnsafeSlow(256 * 1024);

function workplaceFor(text: Buffer): Buffer {
  return text.length <= WORKPLACE.length ? WORKPLACE : placeFor(text);
}

/** Room of its own; memory that is not pooled begins where a float may. */
function placeFor(text: Buffer): Buffer {
  return Buffer.allocUnsafeSlow((text.length / 4) * 3);
}

/** Null when the text is not base64, padding included, of whole float32 values. The values lie in `place`. */
function floatsOfBase64(text: Buffer, place: Buffer): Float32Array | null {
  if (text.length % 4 !== 0) return null;
  const padding = text.at(-1) !== EQUALS ? 0 : text.at(-2) === EQUALS ? 2 : 1;
  const byteLength = (text.length / 4) * 3 - padding;
  // The decoder skips what is not base64, so that a wrong character shows in the length; it also takes the URL alphabet.
  const written = place.write(text.toString('latin1'), 'base64');
  if (written !== byteLength || byteLength % 4 !== 0 || text.includes(MINUS) || text.includes(UNDERSCORE))
    return null;
  return new Float32Array(place.buffer, place.byteOffset, byteLength / 4);
}
