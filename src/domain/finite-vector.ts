// Tells whether float32 values are all finite.

export function isFiniteVector(values: Float32Array): boolean {
  for (const value of values) if (!Number.isFinite(value)) return false;
  return true;
}

/** How many there are; null where there are none to judge, or where one is not finite. */
export function widthOfValues(values: Float32Array | null): number | null {
  return values && isFiniteVector(values) ? values.length : null;
}
