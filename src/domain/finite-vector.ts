// Tells whether float32 values are all finite.

// Of a float32: its exponent, and the least that can be added to one of all ones to reach the sign.
const EXPONENT_BITS = 0x7f800000;
const LEAST_EXPONENT = 0x00800000;

/** Only infinities and NaN have all eight exponent bits set. */
export function isFiniteVector(values: Float32Array): boolean {
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
  const { length } = bits;
  // Four at a time, and without a branch for each: this looks at every number that passes through.
  let sums = 0;
  let at = 0;
  for (; at + 3 < length; at += 4)
    sums |= sumAt(bits, at) | sumAt(bits, at + 1) | sumAt(bits, at + 2) | sumAt(bits, at + 3);
  for (; at < length; at++) sums |= sumAt(bits, at);
  return sums >= 0;
}

/** Negative where all bits of the exponent are set. */
function sumAt(bits: Int32Array, at: number): number {
  return (((bits[at] as number) & EXPONENT_BITS) + LEAST_EXPONENT) | 0;
}
