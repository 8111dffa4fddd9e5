// How long to wait before another try.

/** Full jitter: a random part of a bound that doubles with every failure. Milliseconds. `random` is from 0 to 1. */
export function jitteredDelay(
  failures: number,
  { base, cap }: { readonly base: number; readonly cap: number },
  random: number,
): number {
  return random * Math.min(cap, base * 2 ** Math.min(failures, 30));
}
