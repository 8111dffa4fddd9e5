// The id of a request: the caller's own if it is valid, else a new one. Every response carries it
// (docs/contract.md#conventions).
import type { NextFunction, Request, Response } from 'express';
import { uuidV7 } from '../../domain/identifiers.js';

const REQUEST_ID = Symbol('request id');
const SANE = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

interface RequestWithId {
  [REQUEST_ID]?: string;
}

export function assignRequestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.headers['x-request-id'];
  // Ordered by time: the log's index of ids grows at one end.
  const requestId = typeof given === 'string' && SANE.test(given) ? given : uuidV7(new Date());
  (request as RequestWithId)[REQUEST_ID] = requestId;
  response.setHeader('x-request-id', requestId);
  next();
}

export function requestIdOf(request: object): string {
  return (request as RequestWithId)[REQUEST_ID] ?? '';
}
