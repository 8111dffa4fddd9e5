// The `retry-after` header of an answer.

// Seconds. Longer delays are no different from it: a year.
const LONGEST = 31_536_000;

/** Seconds, from a number, also a fraction, or an HTTP date; null when the header is missing, past or invalid. */
export function retryAfterOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  now: Date,
): number | null {
  const header = headers['retry-after'];
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (text === undefined) return null;
  const number = /^(\d+(?:\.\d+)?)s?$/.exec(text)?.[1];
  if (number !== undefined) return Math.min(Number(number), LONGEST);
  // Without a time of day it is no HTTP date, and Date.parse() reads far more than those.
  if (!/\d\d:\d\d:\d\d/.test(text)) return null;
  const seconds = (Date.parse(text) - now.getTime()) / 1000;
  return seconds >= 0 ? Math.min(seconds, LONGEST) : null;
}
