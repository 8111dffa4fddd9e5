// The list of models on the wire, and its pages. Contract: docs/contract.md#models.
import { ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import { IntegerField, TextField } from '../../http/fields/scalar-fields.js';
import { ModelDto } from './model.dto.js';

const DEFAULT_LIMIT = 500;

class ListLinksDto {
  @TextField({ nullable: true, description: 'The path of the next page; null on the last one.' })
  next: string | null;
}

export class ModelListDto {
  @ObjectListField(ModelDto) data: ModelDto[];
  @IntegerField({ description: 'Number of items in the whole list.' }) total_count: number;
  @ObjectField(ListLinksDto) links: ListLinksDto;
}

interface ListPage {
  readonly offset: number;
  readonly limit: number;
}

interface WantedPage {
  readonly offset: number | undefined;
  readonly limit: number | undefined;
}

type QueryMembers = Readonly<Record<string, string | number | boolean | undefined>>;

/** Both absent: the whole list. */
export function toListPage({ offset, limit }: WantedPage): ListPage {
  if (offset === undefined && limit === undefined) return { offset: 0, limit: Infinity };
  return { offset: offset ?? 0, limit: limit ?? DEFAULT_LIMIT };
}

/** The link to the next page repeats the filters. */
export function toModelListDto(
  models: readonly ModelDto[],
  { offset, limit }: ListPage,
  path: string,
  filters: QueryMembers,
): ModelListDto {
  const end = offset + limit;
  const next = `/api/v1/${path}?${queryOf({ ...filters, offset: end, limit }).toString()}`;
  return {
    data: models.slice(offset, end),
    total_count: models.length,
    links: { next: end < models.length ? next : null },
  };
}

function queryOf({ configured, ...parameters }: QueryMembers): URLSearchParams {
  const query = new URLSearchParams();
  // The filter that has a default.
  if (configured === false) query.set('configured', 'false');
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.set(name, String(value));
  return query;
}

export class ModelCountDto {
  @IntegerField({ example: 42 }) count: number;
}
