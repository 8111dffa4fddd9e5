// Reads the JSON body of a request that every other guard has let in: one without a credential is told 401, however
// malformed or large its body is. A guard, the last one, and not an interceptor: with a single interceptor Nest takes
// every request through Observables, which costs more than the reading.
import { isUtf8 } from 'node:buffer';
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { json } from 'express';
import type { Request, RequestHandler, Response } from 'express';
import { AppConfig } from '../config/app-config.js';
import { AppError } from '../domain/errors.js';
import { compressionOf, ticketOf } from './admission.guard.js';
import type { Ticket } from './admission.js';
import { bodyLimitOf } from './large-body.js';
import {
  gatherPlainBody,
  isPlainBody,
  parsePlainBody,
  takeArrivedBody,
  UnreadableBody,
} from './plain-body.js';

const METHODS_WITHOUT_BODY = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

@Injectable()
export class JsonBodyGuard implements CanActivate {
  /** By their limits. */
  private readonly readers: ReadonlyMap<number, RequestHandler>;

  constructor(private readonly config: AppConfig) {
    this.readers = new Map(
      [config.maxBodyBytes, config.maxEmbeddingsBodyBytes].map((limit) => [limit, createReader(limit)]),
    );
  }

  canActivate(context: ExecutionContext): true | Promise<true> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (METHODS_WITHOUT_BODY.has(request.method)) return true;
    if (isEmpty(request)) {
      // Some operations need nothing said; the others will name what they miss.
      request.body = {};
      return true;
    }
    if (!isJson(request)) {
      throw new AppError('invalid_request', { detail: 'the Content-Type header must be application/json' });
    }
    const limit = bodyLimitOf(context, this.config);
    const arrived = isPlainBody(request, limit) ? takeArrivedBody(request) : null;
    if (arrived === null) return this.readAsItComes(request, http.getResponse<Response>(), limit);
    try {
      takePlain(request, arrived);
    } catch (error) {
      throw toAppError(error, limit);
    }
    return requireObject(request);
  }

  private async readAsItComes(request: Request, response: Response, limit: number): Promise<true> {
    const ticket = ticketOf(request);
    try {
      if (isPlainBody(request, limit)) takePlain(request, await gatherPlainBody(request));
      else await this.readOther(request, response, limit, ticket);
    } catch (error) {
      throw toAppError(error, limit);
    }
    // What was compressed is unpacked to its end, even for a caller that has left meanwhile.
    if (ticket?.isGivenBack) throw endedEarly();
    return requireObject(request);
  }

  /** Compressed, of unknown length, in another encoding, or too large: as Express reads it. */
  private async readOther(
    request: Request,
    response: Response,
    limit: number,
    ticket: Ticket | null,
  ): Promise<void> {
    acceptUtf8ByItsOtherName(request);
    if (ticket !== null && isUnannounced(request)) countAsItComes(request, ticket);
    await new Promise<void>((resolve, reject) => {
      void this.readers.get(limit)?.(request, response, (error?: unknown) => {
        if (error === undefined) resolve();
        else reject(error);
      });
    });
  }
}

function takePlain(request: Request, bytes: Buffer): void {
  ticketOf(request)?.setBytes(bytes.length);
  request.body = parsePlainBody(bytes);
}

function requireObject({ body }: { readonly body?: unknown }): true {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return true;
  throw new AppError('invalid_request', { detail: 'the body must be a JSON object' });
}

function createReader(limit: number): RequestHandler {
  return json({
    limit,
    type: isJson,
    verify: (request, _response, bytes, charset) => {
      ticketOf(request)?.setBytes(bytes.length);
      // Read all the same, it would be another text, and so get another vector.
      if (charset === 'utf-8' && !isUtf8(bytes)) throw new UnreadableBody('charset.unsupported');
    },
  });
}

/** Not registered, and common in headers written by hand. */
function acceptUtf8ByItsOtherName({ headers }: { readonly headers: Request['headers'] }): void {
  const type = headers['content-type'];
  if (type?.includes(';')) headers['content-type'] = type.replace(/charset="?utf8"?/i, 'charset=utf-8');
}

/** As it comes from the connection; what is compressed has been counted as the most that may come of it. */
function isUnannounced(request: Pick<Request, 'headers'>): boolean {
  return request.headers['transfer-encoding'] !== undefined && compressionOf(request) === null;
}

/** Where the bytes do not fit any more, reading ends as it does with a connection that breaks. */
function countAsItComes(request: Request, ticket: Ticket): void {
  request.on('data', function count(chunk: Buffer) {
    try {
      ticket.takeBytes(chunk.length);
    } catch (error) {
      request.off('data', count);
      request.emit('error', error);
    }
  });
}

/** Neither a body nor the announcement of one. */
function isEmpty({ headers }: { readonly headers: Request['headers'] }): boolean {
  const { 'content-length': length = '0', 'content-type': type, 'transfer-encoding': encoding } = headers;
  return length === '0' && type === undefined && encoding === undefined;
}

function isJson(request: { readonly headers: Request['headers'] }): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '');
}

function endedEarly(): AppError {
  return new AppError('invalid_request', { detail: 'the body ended early' });
}

function toAppError(error: unknown, limit: number): unknown {
  if (error instanceof AppError) return error;
  const { type, message } = error as { type?: string; message?: string };
  switch (type) {
    case 'entity.parse.failed':
      // Only where it fails: the parser's own message quotes the body, which may hold a secret.
      return new AppError('invalid_request', {
        detail: ['malformed JSON', /at position \d+/.exec(message ?? '')?.[0]].filter(Boolean).join(' '),
      });
    case 'entity.too.large':
      return new AppError('payload_too_large', { detail: `the limit is ${limit} bytes` });
    case 'charset.unsupported':
      return new AppError('invalid_request', { detail: 'the body must be encoded in UTF-8' });
    case 'encoding.unsupported':
      return new AppError('invalid_request', { detail: 'the Content-Encoding is not supported' });
    case 'request.aborted':
    case 'request.size.invalid':
      return endedEarly();
    default:
      // Zlib's errors, for a body that is not what its Content-Encoding says.
      return new AppError('invalid_request', { detail: 'the body cannot be read', cause: error });
  }
}
