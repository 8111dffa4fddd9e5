// The access rules of a route, as metadata. Without a rule a route needs a bearer key of any kind and counts toward
// the key's requests per minute. POST, PUT, PATCH and DELETE also count toward the account's changes per minute.
import { applyDecorators, createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { ApiExtension, ApiResponse } from '@nestjs/swagger';
import type { Request } from 'express';
import type { Caller } from '../domain/keys/api-key.js';
import type { Actor } from '../domain/audit.js';
import type { ErrorCode } from '../domain/errors.js';
import { RouteRule } from '../config/route-rule.js';
import type { RouteDecorator } from '../config/route-rule.js';
import type { Manager } from '../domain/people/manager.js';
import { reachOf } from '../domain/people/rights.js';
import type { Right } from '../domain/people/rights.js';
import { callerOf, findCaller, findPerson, managerOf, originOf } from './caller.js';

export interface KeyKindRule {
  readonly kind: 'management' | 'inference';
  readonly rejection: ErrorCode;
}

export const PUBLIC = new RouteRule<true>('auth:public');
export const SHOWS_MORE = new RouteRule<(request: Request) => boolean>('auth:shows-more');
export const KEY_KIND = new RouteRule<KeyKindRule>('auth:key-kind');
export const RIGHT = new RouteRule<Right>('auth:right');
export const FOR_EVERYONE = new RouteRule<true>('auth:for-everyone');
export const READS_ONLY = new RouteRule<true>('auth:reads-only');
export const RATE_LIMIT_EXEMPT = new RouteRule<true>('auth:rate-limit-exempt');

/** Needs no credential; requests are limited per address. */
export const Public = (): RouteDecorator => PUBLIC.is(true);

/**
 * Of a public route: requests that `asks` selects show more to a management key. Without a valid credential, and while none can be
 * looked up, they are answered as those of others.
 */
export const ShowsMoreToManagement = (asks: (request: Request) => boolean): RouteDecorator =>
  SHOWS_MORE.is(asks);

/**
 * Needs a management key. Another key is rejected with 403 where the contract declares it, else with 401
 * (docs/contract.md#authentication).
 */
export const ManagementOnly = (
  options: { readonly rejection: 401 | 403 } = { rejection: 401 },
): RouteDecorator =>
  options.rejection === 403
    ? applyDecorators(
        KEY_KIND.is({ kind: 'management', rejection: 'forbidden' }),
        ApiResponse({ status: 403 }),
      )
    : KEY_KIND.is({ kind: 'management', rejection: 'management_key_needed' });

/**
 * The right that a person needs for the route (docs/contract.md#roles). A route without one is denied to people. The guard rejects a
 * person without it; the service keeps to `reach` of the manager.
 */
export const NeedsRight = (right: Right): RouteDecorator =>
  applyDecorators(RIGHT.is(right), ApiExtension('x-right', right), ApiResponse({ status: 403 }));

/** Of a route that every caller and every person may use, without a role as well: their own session. */
export const ForEveryone = (): RouteDecorator => FOR_EVERYONE.is(true);

/** Rejects management keys (docs/contract.md#authentication). */
export const InferenceOnly = (): RouteDecorator =>
  KEY_KIND.is({ kind: 'inference', rejection: 'management_key_refused' });

/** A POST that changes nothing: it does not count toward the account's changes per minute. */
export const ReadsOnly = (): RouteDecorator => READS_ONLY.is(true);

/** For the operator's own probes, outside the contract: a load balancer sends them for all callers. */
export const RateLimitExempt = (): RouteDecorator => RATE_LIMIT_EXEMPT.is(true);

/** The key behind the request's credential. */
export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller =>
  callerOf(context.switchToHttp().getRequest()),
);

/** The key or the person behind the request. */
export const CurrentManager = createParamDecorator((_data: unknown, context: ExecutionContext): Manager =>
  managerOf(context.switchToHttp().getRequest()),
);

/** Of a route that shows more to management keys and to people with a role: whether the request is one of theirs. */
export const SeesMore = createParamDecorator((_data: unknown, context: ExecutionContext): boolean => {
  const request = context.switchToHttp().getRequest<Request>();
  const person = findPerson(request);
  return person === null
    ? findCaller(request)?.key.kind === 'management'
    : reachOf(person, 'catalogue.read') !== null;
});

/** The manager and the request's origin, which the audit log records with a change. */
export const CurrentActor = createParamDecorator((_data: unknown, context: ExecutionContext): Actor => {
  const request = context.switchToHttp().getRequest<Request>();
  return { ...managerOf(request), ...originOf(request) };
});
