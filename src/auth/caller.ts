// The caller of a request, set by the bearer guard: a key, or a person by the console.
import type { Request } from 'express';
import type { ChangeOrigin } from '../domain/audit.js';
import type { Caller } from '../domain/keys/api-key.js';
import type { SessionPerson } from '../domain/people/console-session.js';
import { managerByKey } from '../domain/people/manager.js';
import type { Manager, PersonManager } from '../domain/people/manager.js';
import type { Person } from '../domain/people/person.js';

const CALLER = Symbol('caller');
const PAYER = Symbol('payer');
const PERSON = Symbol('person');
const MANAGER = Symbol('manager');

interface RequestWithCaller {
  [CALLER]?: Caller;
  [PAYER]?: Caller;
  [PERSON]?: SessionPerson;
  [MANAGER]?: PersonManager;
}

export function attachCaller(request: object, caller: Caller): void {
  (request as RequestWithCaller)[CALLER] = caller;
}

/** Null on public routes, on requests that were rejected, and on those of people. */
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
  if (!caller) throw new Error('this route is public, or open to people: it has no caller');
  return caller;
}

export function attachPerson(request: object, found: SessionPerson): void {
  (request as RequestWithCaller)[PERSON] = found;
}

/** The person and the session. Null: the request is not that of a person. */
export function findSessionPerson(request: object): SessionPerson | null {
  return (request as RequestWithCaller)[PERSON] ?? null;
}

/** Null: the request is not that of a person. */
export function findPerson(request: object): Person | null {
  return findSessionPerson(request)?.person ?? null;
}

/** A person whose role has the right of the route. */
export function attachManager(request: object, manager: PersonManager): void {
  (request as RequestWithCaller)[MANAGER] = manager;
}

export function managerOf(request: object): Manager {
  return (request as RequestWithCaller)[MANAGER] ?? managerByKey(callerOf(request).key);
}

/** As the audit log records it with a change. */
export function originOf(request: Request): ChangeOrigin {
  return {
    address: request.ip ?? '',
    requestId: String(request.res?.getHeader('x-request-id') ?? ''),
    userAgent: request.headers['user-agent'] ?? null,
  };
}

/** The account of a key or a person; null where there is neither. */
export function findAccountId(request: object): string | null {
  return findCaller(request)?.key.accountId ?? findPerson(request)?.accountId ?? null;
}
