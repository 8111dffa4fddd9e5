// The caller of a request, set by the bearer guard.
import type { Caller } from '../domain/keys/api-key.js';

const CALLER = Symbol('caller');
const PAYER = Symbol('payer');

interface RequestWithCaller {
  [CALLER]?: Caller;
  [PAYER]?: Caller;
}

export function attachCaller(request: object, caller: Caller): void {
  (request as RequestWithCaller)[CALLER] = caller;
}

/** Null on public routes, and on requests that were rejected. */
export function findCaller(request: object): Caller | null {
  return (request as RequestWithCaller)[CALLER] ?? null;
}

/** The caller that pays for the call of another one. */
export function attachPayer(request: object, payer: Caller): void {
  (request as RequestWithCaller)[PAYER] = payer;
}

/** The caller whose call it is: the payer, else the caller. Null where findCaller() has none. */
export function findPayer(request: object): Caller | null {
  return (request as RequestWithCaller)[PAYER] ?? findCaller(request);
}

export function callerOf(request: object): Caller {
  const caller = findCaller(request);
  if (!caller) throw new Error('this route is public: it has no caller');
  return caller;
}
