// How large the body of a route may be.
import { SetMetadata } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { AppConfig } from '../config/app-config.js';

const LARGE_BODY = 'http:large-body';

/** The route takes bodies up to the allowance of POST /embeddings. */
export const LargeBody = (): MethodDecorator => SetMetadata(LARGE_BODY, true);

/** Bytes. */
export function bodyLimitOf(reflector: Reflector, context: ExecutionContext, config: AppConfig): number {
  const isLarge = reflector.get<boolean | undefined>(LARGE_BODY, context.getHandler());
  return isLarge ? config.maxEmbeddingsBodyBytes : config.maxBodyBytes;
}
