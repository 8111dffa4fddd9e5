// Rate limit of paths without a controller, which no guard sees.
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { RateLimiter } from './rate-limiter.js';

/** Counts toward the requests that an address may make without a credential. */
export function limitPublicRequests(rateLimiter: RateLimiter): RequestHandler {
  // Express hands a rejection to the error filter.
  return async (request: Request, _response: Response, next: NextFunction) => {
    await rateLimiter.consumePublic(request.ip ?? '');
    next();
  };
}
