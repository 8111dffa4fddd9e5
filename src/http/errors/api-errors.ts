// Documents the errors of a route: the shape of every error body, and the route's statuses.
import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, ApiResponse } from '@nestjs/swagger';
import { AppError, ERROR_DEFINITIONS } from '../../domain/errors.js';
import type { ErrorCode } from '../../domain/errors.js';
import { RoutingMetadataDto } from '../dto/routing-metadata.dto.js';
import { errorBody } from './error.filter.js';

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

// Statuses of every route: malformed requests, wrong credentials, too many requests, faults of this service.
const EVERYWHERE = [400, 401, 429, 500, 503];

/** Documents the statuses of a route: the given ones, and those of every route. */
export function ApiErrors(...statuses: readonly number[]): MethodDecorator {
  const all = [...new Set([...EVERYWHERE, ...statuses])].toSorted((one, other) => one - other);
  return applyDecorators(
    ...all.map((status) =>
      ApiResponse({
        status,
        type: ErrorResponseDto,
        description: descriptionOf(status),
        ...(EXAMPLES[status] && { example: EXAMPLES[status] }),
      }),
    ),
  );
}

/** By status, as the filter writes them. */
const EXAMPLES = Object.fromEntries(
  Object.keys(ERROR_DEFINITIONS)
    .toReversed()
    .map((code) => new AppError(code as ErrorCode))
    .map((error) => [error.status, errorBody(error)]),
) as Readonly<Record<number, object>>;

function descriptionOf(status: number): string {
  const definitions = Object.values(ERROR_DEFINITIONS);
  const messages = definitions
    .filter((definition) => definition.status === status)
    .map(({ message }) => message);
  return [...new Set(messages)].join(' / ');
}
