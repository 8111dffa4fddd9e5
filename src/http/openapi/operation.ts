// The documentation of a route in one decorator: names, answer and error statuses.
import { applyDecorators, HttpCode } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiPropertyOptional, ApiResponse } from '@nestjs/swagger';
import type { ApiResponseNoStatusOptions, OpenAPIObject } from '@nestjs/swagger';
import { AppError, ERROR_DEFINITIONS } from '../../domain/errors.js';
import type { ErrorCode } from '../../domain/errors.js';
import { RoutingMetadataDto } from '../dto/routing-metadata.dto.js';
import { errorBody, isMessagesPath, isResponsesPath, messagesErrorBody } from '../errors/error-forms.js';
import { isOAuthPath, oauthErrorBody } from '../errors/oauth-errors.js';
import { responsesErrorBody } from '../errors/responses-errors.js';

type OperationObject = NonNullable<OpenAPIObject['paths'][string]['get']>;

interface OperationOptions {
  /** The name of the operation in generated clients. */
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: true;
  /** The status of a success. Default: 200. */
  readonly status?: 201 | 202;
  /** The class of the body of a success, or its full description. */
  readonly answer: Type | ApiResponseNoStatusOptions;
  /** Statuses that do not follow from the rules of the route (`documentErrors`). */
  readonly errors?: readonly number[];
}

/** Sets the status of a success and documents the route. */
export function Operation(options: OperationOptions): MethodDecorator {
  const { id: operationId, summary, description, deprecated, status = 200, answer, errors = [] } = options;
  return applyDecorators(
    HttpCode(status),
    ApiOperation({ operationId, summary, description, ...(deprecated && { deprecated }) }),
    ApiResponse({ status, ...(typeof answer === 'function' ? { type: answer } : answer) }),
    ...errors.map((error) => ApiResponse({ status: error })),
  );
}

class ErrorDetailsDto {
  @ApiProperty({ type: 'integer', description: 'Equals the HTTP status.' })
  code: number;

  @ApiProperty()
  message: string;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true, nullable: true })
  metadata?: object | null;
}

export class ErrorResponseDto {
  @ApiProperty()
  error: ErrorDetailsDto;

  @ApiPropertyOptional({ description: 'Present when the header X-OpenRouter-Metadata requests it.' })
  openrouter_metadata?: RoutingMetadataDto;

  @ApiPropertyOptional({ type: String, nullable: true })
  user_id?: string | null;
}

class MessagesErrorDetailsDto {
  @ApiProperty({ example: 'invalid_request_error' })
  type: string;

  @ApiProperty()
  message: string;

  @ApiPropertyOptional({ description: 'Absent in an error that passes from the provider.' })
  error_type?: string;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true, nullable: true })
  details?: object | null;
}

export class MessagesErrorResponseDto {
  @ApiProperty({ enum: ['error'] })
  type: string;

  @ApiProperty()
  error: MessagesErrorDetailsDto;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'The generation, or the id of the provider.',
  })
  request_id?: string | null;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  metadata?: object;

  @ApiPropertyOptional({ description: 'Present when the header X-OpenRouter-Metadata requests it.' })
  openrouter_metadata?: RoutingMetadataDto;
}

class ResponsesErrorDetailsDto {
  @ApiProperty({
    oneOf: [{ type: 'integer' }, { type: 'string' }],
    nullable: true,
    description: 'The status; a word in an error that passes from the provider.',
  })
  code: number | string | null;

  @ApiProperty()
  message: string;

  @ApiProperty({ example: 'invalid_request_error' })
  type: string;

  @ApiProperty({ type: String, nullable: true, description: 'The member at fault.' })
  param: string | null;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  metadata?: object;
}

export class ResponsesErrorResponseDto {
  @ApiProperty()
  error: ResponsesErrorDetailsDto;

  @ApiPropertyOptional({ description: 'Absent in an error that passes from the provider.' })
  error_type?: string;

  @ApiPropertyOptional({ description: 'Present when the header X-OpenRouter-Metadata requests it.' })
  openrouter_metadata?: RoutingMetadataDto;
}

const OAUTH_ERRORS = [
  'invalid_request',
  'invalid_grant',
  'unsupported_grant_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
];

export class OAuthErrorResponseDto {
  @ApiProperty({ enum: OAUTH_ERRORS })
  error: string;

  @ApiProperty()
  error_description: string;
}

// Statuses of every route: malformed requests, wrong credentials, too many requests, faults of this service.
const EVERYWHERE = [400, 401, 429, 500, 503];

/**
 * Completes the errors of an operation: those of every route, 403 of people where a credential is needed, 404 of a path with parameters, 413 of a body, and the
 * statuses that its decorators name, each with the shape of error bodies.
 */
export function documentErrors(path: string, operation: OperationObject): void {
  const { responses } = operation;
  const [form, examples] = formOf(path);
  const named = Object.keys(responses).map(Number);
  const statuses = [
    ...EVERYWHERE,
    ...(operation.security?.length ? [403] : []),
    ...(path.includes('{') ? [404] : []),
    ...(operation.requestBody ? [413] : []),
    ...named.filter((status) => status >= 400),
  ];
  for (const status of new Set(statuses)) {
    const example = examples[status];
    const schema = { $ref: `#/components/schemas/${form.name}` };
    responses[status] = {
      description: descriptionOf(status),
      content: { 'application/json': { schema, ...(example && { example }) } },
    };
  }
}

/** By status, as the filter writes them. */
const EXAMPLES = examplesOf(errorBody);
const MESSAGES_EXAMPLES = examplesOf(messagesErrorBody);
const RESPONSES_EXAMPLES = examplesOf(responsesErrorBody);
const OAUTH_EXAMPLES = examplesOf(oauthErrorBody);

function formOf(path: string): [Type, Readonly<Record<number, object>>] {
  if (isMessagesPath(path)) return [MessagesErrorResponseDto, MESSAGES_EXAMPLES];
  if (isResponsesPath(path)) return [ResponsesErrorResponseDto, RESPONSES_EXAMPLES];
  return isOAuthPath(path) ? [OAuthErrorResponseDto, OAUTH_EXAMPLES] : [ErrorResponseDto, EXAMPLES];
}

function examplesOf(bodyOf: (error: AppError) => unknown): Readonly<Record<number, object>> {
  const errors = Object.keys(ERROR_DEFINITIONS).map((code) => new AppError(code as ErrorCode));
  return Object.fromEntries(errors.toReversed().map((error) => [error.status, bodyOf(error) as object]));
}

function descriptionOf(status: number): string {
  const definitions = Object.values(ERROR_DEFINITIONS);
  const messages = definitions
    .filter((definition) => definition.status === status)
    .map(({ message }) => message);
  return [...new Set(messages)].join(' / ');
}
