// The delay before a retry.

/** Full jitter: a random part of a bound that doubles with every failure. Milliseconds. `random` is from 0 to 1. */
export function jitteredDelay(
  failures: number,
  { base, max }: { readonly base: number; readonly max: number },
  random: number,
): number {
  return random * Math.min(max, base * 2 ** Math.min(failures, 30));
}
