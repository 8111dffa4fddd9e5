// Tells whether float32 values are all finite, and whether they are all zeros.

// Of a float32.
const EXPONENT_BITS = 0x7f800000;

/** Only infinities and NaN have all eight exponent bits set; looking at the bits takes a tenth of looking at the numbers. */
export function isFiniteVector(values: Float32Array): boolean {
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
  for (let at = 0; at < bits.length; at++)
    if (((bits[at] as number) & EXPONENT_BITS) === EXPONENT_BITS) return false;
  return true;
}

/** How many there are; null where there are none to judge, or where one is not finite. */
export function widthOfValues(values: Float32Array | null): number | null {
  return values && isFiniteVector(values) ? values.length : null;
}

/** Mostly ends at the first value. */
export function areZeros(values: Float32Array): boolean {
  for (let at = 0; at < values.length; at++) if (values[at] !== 0) return false;
  return true;
}
