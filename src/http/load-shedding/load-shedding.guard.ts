// The first guard of every route: rejects requests beyond the limits of load shedding.
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { AppConfig } from '../../config/app-config.js';
import { mayHaveSession } from '../../domain/people/console-session.js';
import { presentedCredential } from '../../domain/keys/credential-headers.js';
import { LoadShedder } from './load-shedder.js';
import type { TrafficClass } from './load-shedder.js';
import type { InFlightPermit } from './in-flight-limit.js';
import { RouteRule } from '../../config/route-rule.js';
import type { RouteDecorator } from '../../config/route-rule.js';

const GROUP = new RouteRule<TrafficClass | 'none'>('http:traffic-class');
const LARGE_BODY = new RouteRule<true>('http:large-body');
const PERMIT = Symbol('in-flight permit');

interface RequestWithPermit {
  [PERMIT]?: InFlightPermit;
}

/** Sets the traffic class of a route; default: operations. `none`: exempt from load shedding. */
export const InTrafficClass = (group: TrafficClass | 'none'): RouteDecorator => GROUP.is(group);

/** The route accepts bodies up to the limit of POST /embeddings. */
export const LargeBody = (): RouteDecorator => LARGE_BODY.is(true);

/** The body limit of the route, in bytes. */
export function bodyLimitOf(context: ExecutionContext, config: AppConfig): number {
  return LARGE_BODY.of(context) ? config.maxEmbeddingsBodyBytes : config.maxBodyBytes;
}

/** Null on routes that are exempt from load shedding. */
export function permitOf(request: object): InFlightPermit | null {
  return (request as RequestWithPermit)[PERMIT] ?? null;
}

@Injectable()
export class LoadSheddingGuard implements CanActivate {
  constructor(
    private readonly loadShedding: LoadShedder,
    private readonly config: AppConfig,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const group = GROUP.of(context) ?? 'operations';
    if (group === 'none') return true;
    const request = context.switchToHttp().getRequest<Request>();
    const announced = announcedBytes(request, bodyLimitOf(context, this.config));
    const hasCredential = group !== 'public' && hasCredentialIn(request.headers);
    const permit = this.loadShedding.acquire(group, announced, hasCredential);
    (request as RequestWithPermit)[PERMIT] = permit;
    releaseWith(context.switchToHttp().getResponse<Response>(), permit);
    return true;
  }
}

function hasCredentialIn(headers: Request['headers']): boolean {
  return presentedCredential(headers) !== null || mayHaveSession(headers);
}

/** The guard as a middleware, for paths without routes. */
export function shedPublicRequests(loadShedding: LoadShedder): RequestHandler {
  return (_request: Request, response: Response, next: NextFunction): void => {
    try {
      releaseWith(response, loadShedding.acquire('public', 0, false));
    } catch (error) {
      next(error);
      return;
    }
    next();
  };
}

/** Releases the permit when the response has been sent or the caller has disconnected. */
function releaseWith(response: Response, permit: InFlightPermit): void {
  response.once('close', () => permit.release());
}

/** The compression of the body; null: none. */
export function compressionOf({ headers }: Pick<Request, 'headers'>): string | null {
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  return encoding === 'identity' ? null : encoding;
}

/** Capped at the limit, since no more is read. The unpacked size of a compressed body is known only as it is read. */
function announcedBytes(request: Pick<Request, 'headers'>, limit: number): number {
  return Math.min(Number(request.headers['content-length'] ?? 0), limit);
}
