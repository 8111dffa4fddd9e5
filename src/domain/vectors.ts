// Vectors in the three forms they travel in, and the conversions between them. A vector stays the bytes that it came as
// until a conversion is asked for: turning every number into a JavaScript value is what makes gateways slow.
import type { EncodingFormat } from './embedding.js';
import { isFiniteVector, widthOfJsonVector } from './json-vector.js';

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
      const values = floatsOfBase64(vector.text);
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
    const values = floatsOfBase64(vector.text);
    if (!values) throw new RangeError('not base64 of float32 values');
    return values;
  }
  if (widthOfJsonVector(vector.text) === null) throw new RangeError('not a vector of finite numbers');
  return Float32Array.from(JSON.parse(vector.text.toString('latin1')) as number[]);
}

function base64OfFloats(values: Float32Array): string {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('base64');
}

/** The double that each float32 is, shortened to the nine digits that identify it. */
function jsonOfFloats(values: Float32Array): string {
  const numbers = Array.from(values, (value) => Number(value.toPrecision(9)));
  return JSON.stringify(numbers);
}

/** Null when the text is not base64, padding included, of whole float32 values. */
function floatsOfBase64(text: Buffer): Float32Array | null {
  if (text.length % 4 !== 0) return null;
  const padding = text.at(-1) !== 0x3d ? 0 : text.at(-2) === 0x3d ? 2 : 1;
  const byteLength = (text.length / 4) * 3 - padding;
  const bytes = Buffer.from(text.toString('latin1'), 'base64');
  // The decoder skips what is not base64, so that a wrong character shows in the length; it also takes the URL alphabet.
  if (bytes.length !== byteLength || byteLength % 4 !== 0 || text.includes('-') || text.includes('_'))
    return null;
  if (bytes.byteOffset % 4 === 0) return new Float32Array(bytes.buffer, bytes.byteOffset, byteLength / 4);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + byteLength));
}
