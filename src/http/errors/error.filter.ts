// The only writer of error bodies (docs/contract.md#errors).
import { Catch, HttpException, Logger } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppError } from '../../domain/errors.js';
import type { ErrorCode } from '../../domain/errors.js';
import { generationHeaderId } from '../../domain/identifiers.js';
import { errorBody, isMessagesPath, isResponsesPath, messagesErrorBody } from './error-forms.js';
import { FailedRequests } from './failed-requests.js';
import { isOAuthPath, oauthErrorBody } from './oauth-errors.js';
import { requestIdOf } from './request-id.js';
import { responsesErrorBody } from './responses-errors.js';
import { RouteTable } from '../server/route-table.js';

// The framework's own errors by status: its router, its body parser, its path decoding.
const CODES_BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  404: 'not_found',
  413: 'payload_too_large',
  415: 'invalid_request',
};

/** Success and failure carry it, as soon as there is a generation. */
export const GENERATION_ID_HEADER = 'x-generation-id';

const ERROR_CODE = Symbol('error code');

interface RequestWithErrorCode {
  [ERROR_CODE]?: ErrorCode;
}

/** The code of the request's error, whether or not the caller received it; null: no error. */
export function errorCodeOf(request: object): ErrorCode | null {
  return (request as RequestWithErrorCode)[ERROR_CODE] ?? null;
}

@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Errors');

  constructor(
    private readonly routes: RouteTable,
    private readonly failed: FailedRequests,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const error = this.toAppError(thrown, request);
    (request as RequestWithErrorCode)[ERROR_CODE] = error.code;
    this.failed.report(request, error);
    if (error.status >= 500 && error.code !== 'overloaded') {
      const cause = error.cause ?? error;
      this.logger.error(
        { error: cause, requestId: requestIdOf(request), status: error.status },
        error.logMessage,
      );
    }
    if (response.headersSent) {
      // The response has begun, so only a broken connection can show that it is incomplete.
      response.destroy();
      return;
    }
    if (error.generationId !== null)
      response.setHeader(GENERATION_ID_HEADER, generationHeaderId(error.generationId));
    response.set(error.headers);
    this.send(request.path, response, error);
  }

  /** A provider's own error passes with its bytes: clients of the wire recover by its words. */
  private send(path: string, response: Response, error: AppError): void {
    const { native, generationId } = error;
    const isMessages = isMessagesPath(path);
    const isResponses = isResponsesPath(path);
    if (isMessages && generationId !== null)
      response.setHeader('request-id', generationHeaderId(generationId));
    if (isMessages && error.status === 402) response.setHeader('x-should-retry', 'false');
    // No answer of the token endpoint is stored.
    if (isOAuthPath(path)) response.setHeader('Cache-Control', 'no-store');
    const bodyOf = bodyFor(path);
    const wire = isMessages ? 'messages' : isResponses ? 'responses' : null;
    if (native !== null && native.wire === wire)
      response.status(native.status).type('json').send(native.body);
    else response.status(error.status).json(bodyOf(error));
  }

  private toAppError(thrown: unknown, request: Request): AppError {
    if (thrown instanceof AppError) return thrown;
    if (!(thrown instanceof HttpException)) return new AppError('internal', { cause: thrown });
    const status = thrown.getStatus();
    if (status === 404) {
      const allowed = this.routes.methodsFor(request.path);
      if (allowed.length > 0)
        return new AppError('method_not_allowed', { headers: { Allow: allowed.join(', ') } });
      return new AppError('not_found', { detail: 'no such path' });
    }
    const code = CODES_BY_STATUS[status];
    return code ? new AppError(code) : new AppError('internal', { cause: thrown });
  }
}

function bodyFor(path: string): (error: AppError) => unknown {
  if (isMessagesPath(path)) return messagesErrorBody;
  if (isResponsesPath(path)) return responsesErrorBody;
  return isOAuthPath(path) ? oauthErrorBody : errorBody;
}
