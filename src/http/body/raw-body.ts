// Bodies whose bytes a route reads beside their values: members that are passed on keep every digit of their numbers.
import type { ExecutionContext } from '@nestjs/common';
import { RouteRule } from '../../config/route-rule.js';
import type { RouteDecorator } from '../../config/route-rule.js';
import type { ScanBounds } from './json-scan.js';

const RAW_BODY = new RouteRule<ScanBounds>('http:raw-body');
const BYTES = Symbol('raw body');

interface RequestWithBytes {
  [BYTES]?: Buffer;
}

/** Keeps the bytes of the body for `takeRawBody`. `bounds`: of its structure, which the route checks itself. */
export const KeepsRawBody = (bounds: ScanBounds): RouteDecorator => RAW_BODY.is(bounds);

/** Undefined on routes that read values alone. */
export function rawBodyBounds(context: ExecutionContext): ScanBounds | undefined {
  return RAW_BODY.of(context);
}

export function keepRawBody(request: object, bytes: Buffer): void {
  (request as RequestWithBytes)[BYTES] = bytes;
}

/** Once: the request holds the bytes no longer. Empty without a body. */
export function takeRawBody(request: object): Buffer {
  const { [BYTES]: bytes = Buffer.alloc(0) } = request as RequestWithBytes;
  delete (request as RequestWithBytes)[BYTES];
  return bytes;
}
