// Conditional GET for lists that callers poll: an unchanged list is answered with 304.
import { hash } from 'node:crypto';
import { applyDecorators, Injectable, UseInterceptors } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiHeader, ApiResponse } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { map } from 'rxjs';
import type { Observable } from 'rxjs';

/** Weak: a proxy may compress the response without changing its content. */
export function entityTag(text: string): string {
  return `W/"${hash('sha256', text, 'base64url').slice(0, 27)}"`;
}

/**
 * Replaces Express's comparison, which differs from HTTP in two ways. It treats `If-None-Match: *` as a match for
 * every response, so that callers of routes without a tag would get none. And it never matches with `Cache-Control:
 * no-cache`, which requests this very comparison, and which `fetch` adds to every request with a tag.
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

/** Weak comparison (RFC 9110, section 13.1.2). */
function matches(wanted: string, tag: string): boolean {
  const opaque = (one: string): string => one.trim().replace(/^W\//, '');
  return wanted.trim() === '*' || wanted.split(',').some((one) => opaque(one) === opaque(tag));
}

/** A body that many callers get: its text and its tag are made once. */
export class PreparedBody {
  readonly text: string;
  readonly tag: string;

  constructor(content: object) {
    this.text = JSON.stringify(content);
    this.tag = entityTag(this.text);
  }
}

@Injectable()
class EntityTagInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<string> {
    return next.handle().pipe(
      map((body: unknown) => {
        const response = context.switchToHttp().getResponse<Response>();
        if (body instanceof PreparedBody) {
          response.set({ ETag: body.tag, 'Cache-Control': 'private, no-cache' }).type('json');
          return body.text;
        }
        const isText = typeof body === 'string';
        const text = isText ? body : JSON.stringify(body);
        // Express compares the tag with that of the request when it sends the text.
        response.set({ ETag: entityTag(text), 'Cache-Control': 'private, no-cache' });
        if (!isText) response.type('json');
        return text;
      }),
    );
  }
}

/** Responses of the route carry an entity tag, so that the next request can ask for changes only. */
export const ConditionalGet = (): MethodDecorator =>
  applyDecorators(
    UseInterceptors(EntityTagInterceptor),
    ApiHeader({
      name: 'If-None-Match',
      description: 'The `ETag` of an earlier response. 304 when the list has not changed since.',
      required: false,
      schema: { type: 'string' },
    }),
    ApiResponse({
      status: 304,
      description: 'The list has not changed since the response with this `ETag`.',
    }),
  );
