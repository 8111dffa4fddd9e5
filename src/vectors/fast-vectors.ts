// Checks and converts vectors. A vector stays in the bytes that it arrived in until a conversion is needed: turning every
// number into a JavaScript value costs more than the rest of a call.
import { isZeroBase64Vector, valuesOfBase64Vector, widthOfBase64Vector } from './base64-vector.js';
import { areZeros, isFiniteVector, widthOfValues } from './finite-vector.js';
import { isZeroJsonVector, valuesOfJsonVector, widthOfJsonVector } from './json-vector.js';
import type { Vector } from './vector.js';

/** Returns the number of values, or null when the vector has anything but finite numbers. */
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

/** Returns whether all numbers of a vector that has a width are zeros: it has no direction. */
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

/** Returns the first `width` numbers, scaled to length one: the way to shorten a Matryoshka embedding. */
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

/** Each float32 as a double, shortened to the nine digits that identify it. */
function jsonOfFloats(values: Float32Array): string {
  const numbers = Array.from(values, (value) => Number(value.toPrecision(9)));
  return JSON.stringify(numbers);
}
