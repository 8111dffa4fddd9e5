// CORS for pages of other origins, mostly dashboards.
import type { NestExpressApplication } from '@nestjs/platform-express';

type CorsOptions = Exclude<Parameters<NestExpressApplication['enableCors']>[0], undefined | Function>;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
// Response headers that a page may read beside the default ones.
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
// Seconds that a browser may cache a preflight: Chromium's maximum.
const MAX_AGE = 7_200;

export function corsOptions(origins: readonly string[]): CorsOptions {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: METHODS,
    // The allowed request headers are those that the preflight requests. Clients keep adding headers that describe
    // them, and no header grants more than the bearer token beside it.
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: MAX_AGE,
    // Callers authenticate by a token that the page holds, never by a cookie.
    credentials: false,
  };
}
