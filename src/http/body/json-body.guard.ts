// Reads the body of a request, JSON or a form, after every other guard has admitted it: a request without a credential is
// rejected with 401, however malformed or large its body is.
//
// The last guard, and not an interceptor: with a single interceptor Nest handles every request through Observables,
// which costs more than the reading.
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import { AppConfig } from '../../config/app-config.js';
import { AppError } from '../../domain/errors.js';
import { isObject } from '../../domain/members.js';
import { permitOf, bodyLimitOf } from '../load-shedding/load-shedding.guard.js';
import { LoadShedder } from '../load-shedding/load-shedder.js';
import { BODY_ENCODINGS, readBody } from './body-reader.js';
import { FORM_TYPE, isForm, MAX_FORM_BYTES, parseForm, takesForm } from './form-body.js';
import { needsScan, scanJson, scanJsonAtOnce } from './json-scan.js';
import type { ScanBounds } from './json-scan.js';
import { keepRawBody, rawBodyBounds } from './raw-body.js';
import { isInUtf8, isPlainBody, parsePlainBody, takeArrivedBody, UnreadableBody } from './plain-body.js';
import { SlowTransfers } from '../server/slow-transfers.js';

// Bytes. A longer body is scanned and parsed when its account has its turn.
const LARGE_BODY = 256 * 1024;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

const METHODS_WITHOUT_BODY = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

@Injectable()
export class JsonBodyGuard implements CanActivate {
  constructor(
    private readonly config: AppConfig,
    private readonly loadShedder: LoadShedder,
    private readonly transfers: SlowTransfers,
    private readonly yieldQueue: YieldQueue,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    // The account is known by now, and has its share of the limits in flight.
    const permit = permitOf(request);
    if (permit !== null) this.loadShedder.assign(permit, request);
    if (METHODS_WITHOUT_BODY.has(request.method)) return true;
    if (isEmpty(request)) {
      // Some operations need no body; the others name their missing members.
      request.body = {};
      return true;
    }
    if (takesForm(context)) return this.readForm(request, http.getResponse<Response>());
    if (!isJson(request)) {
      throw new AppError('invalid_request', { detail: 'the Content-Type header must be application/json' });
    }
    const limit = bodyLimitOf(context, this.config);
    const bounds = rawBodyBounds(context);
    const arrived = isPlainBody(request, limit) ? takeArrivedBody(request) : null;
    if (arrived === null) return this.readAsItComes(request, http.getResponse<Response>(), limit, bounds);
    try {
      permit?.setBytes(arrived.length);
      if (needsScan(arrived)) scanJsonAtOnce(arrived, bounds);
      request.body = parsePlainBody(arrived);
      if (bounds) keepRawBody(request, arrived);
    } catch (error) {
      throw toAppError(error, limit);
    }
    return requireObject(request);
  }

  private readForm(request: Request, response: Response): Promise<true> {
    if (!isForm(request.headers['content-type'] ?? ''))
      throw new AppError('invalid_request', { detail: `the Content-Type header must be ${FORM_TYPE}` });
    return this.read(request, response, MAX_FORM_BYTES, (bytes) => {
      request.body = parseForm(bytes);
    });
  }

  private readAsItComes(
    request: Request,
    response: Response,
    limit: number,
    bounds: ScanBounds | undefined,
  ): Promise<true> {
    return this.read(request, response, limit, async (bytes) => {
      if (bytes.length > LARGE_BODY) {
        const work = this.yieldQueue.begin(this.loadShedder.accountOf(request) ?? '');
        await work.yieldNow();
        if (needsScan(bytes)) await scanJson(bytes, work, bounds);
      } else if (needsScan(bytes)) scanJsonAtOnce(bytes, bounds);
      request.body = parsePlainBody(bytes);
      if (bounds) keepRawBody(request, bytes);
    });
  }

  private async read(
    request: Request,
    response: Response,
    limit: number,
    parse: (bytes: Buffer) => void | Promise<void>,
  ): Promise<true> {
    const permit = permitOf(request);
    try {
      if (!isInUtf8(request.headers['content-type'] ?? '')) throw new UnreadableBody('charset.unsupported');
      const bytes = await readBody(request, {
        limit,
        acquireBytes: (count) => permit?.acquireBytes(count),
        transfers: this.transfers,
      });
      permit?.setBytes(bytes.length);
      await parse(bytes);
    } catch (error) {
      const shown = toAppError(error, limit);
      // A body that timed out is not read any further.
      if (shown instanceof AppError && shown.code === 'operation_timeout')
        response.setHeader('Connection', 'close');
      throw shown;
    }
    // The caller may have disconnected while its body was unpacked or scanned.
    if (permit?.isReleased) throw endedEarly();
    return requireObject(request);
  }
}

function requireObject({ body }: { readonly body?: unknown }): true {
  if (isObject(body)) return true;
  throw new AppError('invalid_request', { detail: 'the body must be a JSON object' });
}

/** Clients send a content type with every POST, even without a body. */
function isEmpty({ headers }: { readonly headers: Request['headers'] }): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return length === '0' && encoding === undefined;
}

function isJson({ headers: { 'content-type': type = '' } }: Pick<Request, 'headers'>): boolean {
  if (JSON_TYPE.test(type)) return true;
  // A library and its caller that both set the header repeat one value.
  const [value = '', ...others] = new Set(type.split(',').map((one) => one.trim().toLowerCase()));
  return others.length === 0 && JSON_TYPE.test(value);
}

function endedEarly(): AppError {
  return new AppError('invalid_request', { detail: 'the body ended early' });
}

function toAppError(error: unknown, limit: number): unknown {
  if (error instanceof AppError) return error;
  const { type, message } = error as { type?: string; message?: string };
  switch (type) {
    case 'entity.parse.failed':
      // The parser's own message quotes the body, which may hold a secret, so only its position is shown.
      return new AppError('invalid_request', {
        detail: ['malformed JSON', /at position \d+/.exec(message ?? '')?.[0]].filter(Boolean).join(' '),
      });
    case 'entity.too.large':
      return new AppError('payload_too_large', { detail: `the limit is ${limit} bytes` });
    case 'charset.unsupported':
      return new AppError('invalid_request', { detail: 'the body must be encoded in UTF-8' });
    case 'encoding.unsupported':
      return new AppError('invalid_request', {
        detail: `the Content-Encoding must be ${BODY_ENCODINGS.join(', ')} or identity`,
      });
    case 'request.aborted':
      return endedEarly();
    default:
      // Zlib's errors, for a body that does not match its Content-Encoding.
      return new AppError('invalid_request', { detail: 'the body cannot be read', cause: error });
  }
}
