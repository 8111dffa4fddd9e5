// The ticks of a value axis.

const MOST_STEPS = 5;

/** From 0 to the first round value at or above `high`, in steps of 1, 2 or 5 times a power of ten. */
export function ticksUpTo(high: number, isWhole: boolean): readonly number[] {
  if (high <= 0) return [0, 1];
  const power = 10 ** Math.floor(Math.log10(high / MOST_STEPS));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => high / size <= MOST_STEPS);
  const size = Math.max(isWhole ? 1 : 0, step ?? high);
  // A multiple, not a sum: 0.1 + 0.2 is more than 0.3.
  return Array.from({ length: Math.ceil(high / size - 1e-9) + 1 }, (_tick, index) =>
    Number((index * size).toPrecision(12)),
  );
}
