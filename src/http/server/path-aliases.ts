// Paths below the host's root that clients of the Messages and Responses wires use: the same routes, with the same guards.
import type { NextFunction, Request, Response } from 'express';

const ALIASES = /^\/v1\/(?:messages(?:\/count_tokens)?|responses|models)(?=[/?]|$)/;

/** Without a redirect: coding agents follow none. */
export function acceptPathAliases(request: Request, _response: Response, next: NextFunction): void {
  if (ALIASES.test(request.url)) request.url = `/api${request.url}`;
  next();
}
