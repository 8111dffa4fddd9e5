// Statistics over measurements and rounds, and their notation.

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const sorted = (values: readonly number[]): number[] => values.toSorted((one, other) => one - other);

export function median(values: readonly number[]): number {
  const all = sorted(values);
  const middle = Math.floor(all.length / 2);
  const upper = all[middle] ?? Number.NaN;
  return all.length % 2 === 1 ? upper : ((all[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The value below which this part of all values is; NaN without values. */
export function percentile(values: readonly number[], part: number): number {
  const all = sorted(values);
  return all[Math.min(Math.floor(all.length * part), all.length - 1)] ?? Number.NaN;
}

type Result = Readonly<Record<string, number>>;

/** One member of the result of every round. */
export const valuesOf = (results: readonly Result[], part: string): number[] =>
  results.map((result) => result[part] ?? Number.NaN);
export const medianOf = (results: readonly Result[], part: string): number => median(valuesOf(results, part));

// Compares two lists round by round: a disturbance of the machine affects both of a round alike.

export const medianDifference = (values: readonly number[], others: readonly number[]): number =>
  median(values.map((value, round) => value - (others[round] ?? Number.NaN)));

export const medianRatio = (values: readonly number[], others: readonly number[]): number =>
  median(values.map((value, round) => value / (others[round] ?? Number.NaN)));

/** The distance from the minimum to the maximum, as a part of the median. */
export const spread = (values: readonly number[]): number =>
  (Math.max(...values) - Math.min(...values)) / median(values);

export const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
export const percent = (part: number): string => `${Math.round(part * 100)} %`;
/** For figures with a bound: 44.6 % would look like a missed 45 %. */
export const percentWithTenths = (part: number): string => `${(part * 100).toFixed(1)} %`;
export const times = (ratio: number): string => `${ratio.toFixed(ratio < 10 ? 2 : 1)}x`;
export const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;
/** Three digits at least: for calls. */
export const milliseconds = (value: number): string =>
  `${value.toFixed(value < 10 && value > -10 ? 3 : 1)} ms`;
