// Lists that a caller asks for again and again: whoever has the same answer already is told so instead of sent it.
import { hash } from 'node:crypto';
import { applyDecorators, Injectable, UseInterceptors } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiHeader, ApiResponse } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { map } from 'rxjs';
import type { Observable } from 'rxjs';

/** Weak: a proxy may compress the answer, and it stays the same. */
export function entityTag(text: string): string {
  return `W/"${hash('sha256', text, 'base64url').slice(0, 27)}"`;
}

/**
 * In place of Express's own comparison. That one takes `If-None-Match: *` for a match with whatever it sends, so that callers
 * of routes without a tag would get nothing; and it never matches where `Cache-Control: no-cache` is sent, which asks for
 * just this comparison, and which `fetch` adds to every request with a tag.
 */
export function compareEntityTags(application: NestExpressApplication): void {
  const { request } = application.getHttpAdapter().getInstance();
  Object.defineProperty(request, 'fresh', {
    get(this: Request) {
      const tag = this.res?.getHeader('etag');
      return typeof tag === 'string' && matches(this.headers['if-none-match'] ?? '', tag);
    },
  });
}

/** Weakly (RFC 9110, section 13.1.2). */
function matches(wanted: string, tag: string): boolean {
  const opaque = (one: string): string => one.trim().replace(/^W\//, '');
  return wanted.trim() === '*' || wanted.split(',').some((one) => opaque(one) === opaque(tag));
}

@Injectable()
class EntityTagInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<string> {
    return next.handle().pipe(
      map((body: unknown) => {
        const text = JSON.stringify(body);
        // Express compares the tag with that of the request as it sends the text.
        context
          .switchToHttp()
          .getResponse<Response>()
          .set({ ETag: entityTag(text), 'Cache-Control': 'private, no-cache' })
          .type('json');
        return text;
      }),
    );
  }
}

/** The answers of the route carry an entity tag, by which the next one can be asked for only if it has changed. */
export const ConditionalGet = (): MethodDecorator =>
  applyDecorators(
    UseInterceptors(EntityTagInterceptor),
    ApiHeader({
      name: 'If-None-Match',
      description: 'The `ETag` of an answer to the same request: 304 when nothing has changed since.',
      required: false,
      schema: { type: 'string' },
    }),
    ApiResponse({ status: 304, description: 'Nothing has changed since the answer that has this `ETag`.' }),
  );
