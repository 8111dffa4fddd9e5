// The list of models on the wire, and the part of it that a request asks for. Source: contract 4.5.
import { ApiProperty } from '@nestjs/swagger';
import { AppError } from '../../domain/errors.js';
import { ModelDto } from './model.dto.js';

const DEFAULT_LIMIT = 500;
const MAX_LIMIT = 1_000;

class ListLinksDto {
  @ApiProperty({ type: String, nullable: true, description: 'The next part of the list; null at its end.' })
  next: string | null;
}

export class ModelListDto {
  @ApiProperty({ type: [ModelDto] })
  data: ModelDto[];

  @ApiProperty({ type: 'integer', description: 'Of the whole list.' })
  total_count: number;

  @ApiProperty()
  links: ListLinksDto;
}

export interface ListPart {
  readonly offset: number;
  readonly limit: number;
}

/** Both absent: the whole list. */
export function readListPart(offset: unknown, limit: unknown): ListPart {
  if (offset === undefined && limit === undefined) return { offset: 0, limit: Infinity };
  return {
    offset: readInteger('offset', offset, { least: 0, most: Number.MAX_SAFE_INTEGER }) ?? 0,
    limit: readInteger('limit', limit, { least: 1, most: MAX_LIMIT }) ?? DEFAULT_LIMIT,
  };
}

/** `path` is where the list is asked for, with a query where it needs one. */
export function toModelListDto(
  models: readonly ModelDto[],
  { offset, limit }: ListPart,
  path: string,
): ModelListDto {
  const end = offset + limit;
  const next = `/api/v1/${path}${path.includes('?') ? '&' : '?'}offset=${end}&limit=${limit}`;
  return {
    data: models.slice(offset, end),
    total_count: models.length,
    links: { next: end < models.length ? next : null },
  };
}

function readInteger(
  name: string,
  value: unknown,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : NaN;
  if (number >= least && number <= most) return number;
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new AppError('invalid_request', { detail: `${name}: must be a whole number ${range}` });
}
