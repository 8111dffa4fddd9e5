// The caller of a request, set by the bearer guard.
import type { Caller } from '../domain/keys/api-key.js';

const CALLER = Symbol('caller');

interface RequestWithCaller {
  [CALLER]?: Caller;
}

export function attachCaller(request: object, caller: Caller): void {
  (request as RequestWithCaller)[CALLER] = caller;
}

/** Null on public routes, and on requests that were rejected. */
export function findCaller(request: object): Caller | null {
  return (request as RequestWithCaller)[CALLER] ?? null;
}

export function callerOf(request: object): Caller {
  const caller = findCaller(request);
  if (!caller) throw new Error('this route is public: it has no caller');
  return caller;
}
