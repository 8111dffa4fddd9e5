// Asks, before anything else: is there room for this request? The first guard of every route.
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { AppConfig } from '../../config/app-config.js';
import { LoadShedder } from './load-shedder.js';
import type { TrafficClass } from './load-shedder.js';
import type { InFlightPermit } from './in-flight-limit.js';
import { bodyLimitOf } from '../body/large-body.js';
import { RouteRule } from '../../config/route-rule.js';
import type { RouteDecorator } from '../../config/route-rule.js';

const GROUP = new RouteRule<TrafficClass | 'none'>('http:admission-group');
const PERMIT = Symbol('ticket');

interface RequestWithPermit {
  [PERMIT]?: InFlightPermit;
}

/** Which share of the process a route takes; operations where nothing is said. `none`: answered whatever the load. */
export const InTrafficClass = (group: TrafficClass | 'none'): RouteDecorator => GROUP.is(group);

/** Null on routes that are answered whatever the load. */
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
    const hasCredential = group !== 'public' && request.headers.authorization !== undefined;
    const permit = this.loadShedding.acquire(group, announced, hasCredential);
    (request as RequestWithPermit)[PERMIT] = permit;
    releaseWith(context.switchToHttp().getResponse<Response>(), permit);
    return true;
  }
}

/** What the guard does, for paths that are served without routes. */
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

/** When the answer has left, or the caller. */
function releaseWith(response: Response, permit: InFlightPermit): void {
  response.once('close', () => permit.release());
}

/** How the body is compressed; null: it is not. */
export function compressionOf({ headers }: Pick<Request, 'headers'>): string | null {
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  return encoding === 'identity' ? null : encoding;
}

/** Of a body that is larger than it may be no more is read. What is compressed becomes known as it is unpacked. */
function announcedBytes(request: Pick<Request, 'headers'>, limit: number): number {
  return Math.min(Number(request.headers['content-length'] ?? 0), limit);
}
