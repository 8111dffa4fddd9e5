// Asks, before anything else: is there room for this request? The first guard of every route.
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../config/app-config.js';
import { Admission } from './admission.js';
import type { AdmissionGroup, Ticket } from './admission.js';
import { bodyLimitOf } from './large-body.js';
import { RouteRule } from '../config/route-rule.js';
import type { RouteDecorator } from '../config/route-rule.js';

const GROUP = new RouteRule<AdmissionGroup | 'none'>('http:admission-group');
const TICKET = Symbol('ticket');
const DEFLATE = new Set(['gzip', 'deflate']);
// Nothing becomes larger than that, by the format itself.
const DEFLATE_RATIO = 1_032;

interface RequestWithTicket {
  [TICKET]?: Ticket;
}

/** Which share of the process a route takes; operations where nothing is said. `none`: answered whatever the load. */
export const AdmittedAs = (group: AdmissionGroup | 'none'): RouteDecorator => GROUP.is(group);

/** Null on routes that are answered whatever the load. */
export function ticketOf(request: object): Ticket | null {
  return (request as RequestWithTicket)[TICKET] ?? null;
}

@Injectable()
export class AdmissionGuard implements CanActivate {
  constructor(
    private readonly admission: Admission,
    private readonly config: AppConfig,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const group = GROUP.of(context) ?? 'operations';
    if (group === 'none') return true;
    const request = context.switchToHttp().getRequest<Request>();
    const limit = bodyLimitOf(context, this.config);
    const ticket = this.admission.admit(group, announcedBytes(request, limit));
    (request as RequestWithTicket)[TICKET] = ticket;
    context
      .switchToHttp()
      .getResponse<Response>()
      .once('close', () => ticket.release());
    return true;
  }
}

/** How the body is compressed; null: it is not. */
export function compressionOf({ headers }: Pick<Request, 'headers'>): string | null {
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  return encoding === 'identity' ? null : encoding;
}

/**
 * As announced; nothing where nothing is, since then it is counted as it comes. What is compressed is counted only when it
 * is unpacked to its end: until then, as the most that may come of it.
 */
function announcedBytes(request: Pick<Request, 'headers'>, limit: number): number {
  const compression = compressionOf(request);
  const length = request.headers['content-length'];
  if (compression === null) return Math.min(Number(length ?? 0), limit);
  if (length === undefined || !DEFLATE.has(compression)) return limit;
  return Math.min(Number(length) * DEFLATE_RATIO, limit);
}
