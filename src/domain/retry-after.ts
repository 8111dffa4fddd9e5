// The `retry-after` header of an answer.

/** Seconds, from a number or an HTTP date; null when the header is missing or invalid. */
export function retryAfterOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  now: Date,
): number | null {
  const text = headers['retry-after'];
  if (typeof text !== 'string') return null;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now.getTime()) / 1000;
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}
