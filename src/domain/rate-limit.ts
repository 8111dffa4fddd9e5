// The 429 of every limit: when to retry, in the headers and again in the body (docs/contract.md#rate-limits).
import { AppError } from './errors.js';

export interface ReachedLimit {
  /** Requests of one period. */
  readonly limit: number;
  /** Milliseconds until one more request is accepted. */
  readonly retryAfter: number;
  readonly now: Date;
  /** By the seconds of `Retry-After`. */
  readonly detail: (seconds: number) => string;
}

/** The body repeats the three headers, because clients hide the headers of errors. */
export function rateLimitExceeded({ limit, retryAfter, now, detail }: ReachedLimit): AppError {
  const seconds = Math.max(1, Math.ceil(retryAfter / 1_000));
  const headers = {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': '0',
    // Epoch milliseconds.
    'X-RateLimit-Reset': String(Math.ceil(now.getTime() + retryAfter)),
  };
  return new AppError('rate_limit_exceeded', {
    detail: detail(seconds),
    metadata: { headers },
    headers: { 'Retry-After': String(seconds), ...headers },
  });
}
