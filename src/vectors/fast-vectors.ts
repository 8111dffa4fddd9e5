// Checks and converts vectors. A vector stays the bytes that it arrived as until a conversion is needed: turning every
// number into a JavaScript value costs more than everything else that a call does.
import { isZeroBase64Vector, valuesOfBase64Vector, widthOfBase64Vector } from './base64-vector.js';
import { areZeros, isFiniteVector, widthOfValues } from './finite-vector.js';
import { isZeroJsonVector, valuesOfJsonVector, widthOfJsonVector } from './json-vector.js';
import type { Vector } from './vector.js';

/** How many numbers the vector has, or null when it is not a vector of finite numbers at all. */
export function vectorWidth(vector: Vector): number | null {
  switch (vector.form) {
    case 'floats':
      return widthOfValues(vector.values);
    case 'base64':
      return widthOfBase64Vector(vector.text);
    case 'json':
      return widthOfJsonVector(vector.text);
  }
}

/** Whether a vector that has a width has no direction: all its numbers are zeros. */
export function isZeroVector(vector: Vector): boolean {
  switch (vector.form) {
    case 'floats':
      return areZeros(vector.values);
    case 'base64':
      return isZeroBase64Vector(vector.text);
    case 'json':
      return isZeroJsonVector(vector.text);
  }
}

/** Throws RangeError when the vector holds anything but finite numbers. */
export function vectorValues(vector: Vector): Float32Array {
  const values = decodeVector(vector);
  if (!isFiniteVector(values)) throw new RangeError('not a vector of finite numbers');
  return values;
}

export function encodeVector(vector: Vector, format: 'float' | 'base64'): Buffer {
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
    const values = valuesOfBase64Vector(vector.text);
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
