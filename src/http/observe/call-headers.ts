// Headers of model calls: the application that calls, the session, and the wish for routing metadata; of their answers, the own
// keys that did not serve, and the end of the model.
import type { Request, Response } from 'express';
import type { CallerTrace } from '../../domain/caller-trace.js';
import { deprecationHeaders } from '../../domain/deprecation.js';
import type { Deprecation } from '../../domain/deprecation.js';
import type { CallContext } from '../../domain/generations/call-record.js';
import type { PassedOverKey } from '../../domain/providers/routing-metadata.js';
import type { RequestContext } from '../../domain/generations/generation.js';
import type { Mutable } from '../../domain/members.js';
import { requestIdOf } from '../errors/request-id.js';

const MAX_HEADER_LENGTH = 256;
const POSITIVE_COUNT = /^[1-9]\d{0,3}$/;
// The name, and its former name.
const METADATA_HEADERS = ['x-openrouter-metadata', 'x-openrouter-experimental-metadata'] as const;

export const PASSED_OVER_HEADER = 'X-BYOK-Passed-Over';

/** `openai;reason=used_up, azure;reason=refused` */
function passedOverText(keys: readonly PassedOverKey[]): string {
  return [...new Set(keys.map(({ provider, reason }) => `${provider};reason=${reason}`))].join(', ');
}

/** The facts of a call that the headers of its answer state, whatever its operation is. */
export interface AnswerFacts {
  readonly passedOver: readonly PassedOverKey[];
  /** Of the model that answers. */
  readonly deprecation: Deprecation;
}

export function setAnswerHeaders(
  response: Pick<Response, 'setHeader'>,
  { passedOver, deprecation }: AnswerFacts,
): void {
  if (passedOver.length > 0) response.setHeader(PASSED_OVER_HEADER, passedOverText(passedOver));
  for (const [name, value] of Object.entries(deprecationHeaders(deprecation)))
    response.setHeader(name, value);
}

export function describeApplication(request: Request): RequestContext {
  const userAgent = headerText(request, 'user-agent');
  const referer = headerText(request, 'http-referer') ?? headerText(request, 'referer');
  const title = headerText(request, 'x-openrouter-title') ?? headerText(request, 'x-title');
  const context: Mutable<RequestContext> = {};
  if (userAgent) context.userAgent = userAgent;
  if (referer) context.referer = referer;
  if (title) context.title = title;
  const retries = headerText(request, 'x-stainless-retry-count') ?? '';
  if (POSITIVE_COUNT.test(retries)) context.retryCount = Number(retries);
  return context;
}

/** `sessionId` and `trace`: as the body has them. */
export function callContextOf(
  request: Request,
  sessionId: string | null | undefined,
  trace: CallerTrace | null | undefined,
): CallContext {
  return {
    requestId: requestIdOf(request),
    sessionId: sessionId ?? headerText(request, 'x-session-id') ?? null,
    trace: trace ?? null,
    requestContext: describeApplication(request),
  };
}

/** `enabled`; any other value is ignored. */
export function wantsRoutingMetadata({ headers }: Pick<Request, 'headers'>): boolean {
  return METADATA_HEADERS.some((name) => {
    const value = headers[name];
    return typeof value === 'string' && value.trim().toLowerCase() === 'enabled';
  });
}

/** Headers are the caller's bytes: cut, and well-formed for the log. */
export function headerText(request: Request, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value.slice(0, MAX_HEADER_LENGTH).toWellFormed() : undefined;
}
