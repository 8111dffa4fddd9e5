// What browsers are told when pages of other origins call: dashboards, mostly.
import type { NestExpressApplication } from '@nestjs/platform-express';

type CorsOptions = Exclude<Parameters<NestExpressApplication['enableCors']>[0], undefined | Function>;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
// What a page may read of an answer, beside what it always may.
const EXPOSED_HEADERS = [
  'ETag',
  'Retry-After',
  'X-Embedding-Cache',
  'X-Generation-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];
// Seconds that a browser need not ask again: the most that Chromium heeds.
const MAX_AGE = 7_200;

export function corsOptions(origins: readonly string[]): CorsOptions {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: METHODS,
    // Which headers a request may have is not listed: those that it asks for. The clients send ever new ones to describe
    // themselves, and no header does anything that the bearer token beside it may not.
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: MAX_AGE,
    // Callers are known by a token that the page holds, never by a cookie.
    credentials: false,
  };
}
