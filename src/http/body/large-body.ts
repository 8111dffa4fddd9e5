// The body limits of routes.
import type { ExecutionContext } from '@nestjs/common';
import type { AppConfig } from '../../config/app-config.js';
import { RouteRule } from '../../config/route-rule.js';
import type { RouteDecorator } from '../../config/route-rule.js';

const LARGE_BODY = new RouteRule<true>('http:large-body');

/** The route accepts bodies up to the limit of POST /embeddings. */
export const LargeBody = (): RouteDecorator => LARGE_BODY.is(true);

/** Bytes. */
export function bodyLimitOf(context: ExecutionContext, config: AppConfig): number {
  return LARGE_BODY.of(context) ? config.maxEmbeddingsBodyBytes : config.maxBodyBytes;
}
