// The plain implementation of vectors.ts: number by number, without WebAssembly and without reading characters.
// reference-vectors.spec.ts compares the fast one with it.
import type { Vector } from './vector.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BITS_PER_CHARACTER = 6;
const BYTES_PER_VALUE = 4;
const ZERO = /^\s*-?0(\.0+)?([eE][+-]?\d+)?\s*$/;
// Digits that identify a float32.
const PRECISION = 9;

export function vectorWidth(vector: Vector): number | null {
  const values = decode(vector);
  return values?.every(Number.isFinite) ? values.length : null;
}

/** Reads the digits of a JSON number: 1e-400 is not zero, although a double holds 0 for it. */
export function isZeroVector(vector: Vector): boolean {
  if (vector.form === 'json') {
    const inside = vector.text.toString('latin1').slice(1, -1);
    return inside.trim() === '' || inside.split(',').every((number) => ZERO.test(number));
  }
  return (decode(vector) ?? []).every((value) => value === 0);
}

export function vectorValues(vector: Vector): Float32Array {
  const values = decode(vector);
  if (!values?.every(Number.isFinite)) throw new RangeError('not a vector of finite numbers');
  return Float32Array.from(values);
}

export function encodeVector(vector: Vector, format: 'float' | 'base64'): Buffer {
  if (format === 'base64') {
    return vector.form === 'base64' ? vector.text : Buffer.from(toBase64(vectorValues(vector)));
  }
  return vector.form === 'json' ? vector.text : Buffer.from(toJson(vectorValues(vector)));
}

export function truncateAndNormalise(values: Float32Array, width: number): Float32Array {
  const kept = [...values].slice(0, width);
  const squares = kept.reduce((sum, value) => sum + value * value, 0);
  const scale = squares === 0 ? 1 : 1 / Math.sqrt(squares);
  return Float32Array.from(kept, (value) => value * scale);
}

/** Returns the numbers as float32, infinite ones included, or null when the text is malformed. */
function decode(vector: Vector): number[] | null {
  switch (vector.form) {
    case 'floats':
      return [...vector.values];
    case 'json':
      return fromJson(vector.text.toString('latin1'));
    case 'base64':
      return fromBase64(vector.text.toString('latin1'));
  }
}

function fromJson(text: string): number[] | null {
  if (!text.startsWith('[') || !text.endsWith(']')) return null;
  try {
    const values = JSON.parse(text) as unknown[];
    return values.every((value) => typeof value === 'number') ? values.map(Math.fround) : null;
  } catch {
    return null;
  }
}

function fromBase64(text: string): number[] | null {
  if (text.length % 4 !== 0) return null;
  const digits = text.replace(/={1,2}$/, '');
  const bytes: number[] = [];
  let bits = 0;
  let bitCount = 0;
  for (const character of digits) {
    const sextet = ALPHABET.indexOf(character);
    if (sextet === -1) return null;
    bits = ((bits << BITS_PER_CHARACTER) | sextet) & 0xffff;
    bitCount += BITS_PER_CHARACTER;
    if (bitCount < 8) continue;
    bitCount -= 8;
    bytes.push((bits >> bitCount) & 0xff);
  }
  if (bytes.length % BYTES_PER_VALUE !== 0) return null;
  const view = new DataView(Uint8Array.from(bytes).buffer);
  return Array.from({ length: bytes.length / BYTES_PER_VALUE }, (_, index) =>
    view.getFloat32(index * BYTES_PER_VALUE, true),
  );
}

function toBase64(values: Float32Array): string {
  const view = new DataView(new ArrayBuffer(values.length * BYTES_PER_VALUE));
  values.forEach((value, index) => view.setFloat32(index * BYTES_PER_VALUE, value, true));
  return Buffer.from(view.buffer).toString('base64');
}

function toJson(values: Float32Array): string {
  return `[${Array.from(values, (value) => Number(value.toPrecision(PRECISION))).join(',')}]`;
}
