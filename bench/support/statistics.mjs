// Statistics over rounds, and their notation.

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

export function median(values) {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** One member of the result of every round. */
export const valuesOf = (results, part) => results.map((result) => result[part]);
export const medianOf = (results, part) => median(valuesOf(results, part));

// Compares two lists round by round: a disturbance of the machine affects both of a round alike.

export function medianDifference(values, others) {
  return median(values.map((value, round) => value - others[round]));
}

export function medianRatio(values, others) {
  return median(values.map((value, round) => value / others[round]));
}

/** The distance from the minimum to the maximum, as a part of the median. */
export function spread(values) {
  return (Math.max(...values) - Math.min(...values)) / median(values);
}

export const whole = (value) => Math.round(value).toLocaleString('en-US');
export const percent = (part) => `${Math.round(part * 100)} %`;
/** For figures with a bound: 44.6 % would look like a missed 45 %. */
export const percentWithTenths = (part) => `${(part * 100).toFixed(1)} %`;
export const times = (ratio) => `${ratio.toFixed(ratio < 10 ? 2 : 1)}x`;
export const milliseconds = (value) => `${value.toFixed(value < 10 && value > -10 ? 3 : 1)} ms`;
