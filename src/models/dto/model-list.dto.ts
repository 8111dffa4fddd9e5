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

export interface ListPage {
  readonly offset: number;
  readonly limit: number;
}

/** Both absent: the whole list. */
export function toListPage({ offset, limit }: Partial<ListPage>): ListPage {
  if (offset === undefined && limit === undefined) return { offset: 0, limit: Infinity };
  return { offset: offset ?? 0, limit: limit ?? DEFAULT_LIMIT };
}

/** `path` is the path of the list, with its query. */
export function toModelListDto(
  models: readonly ModelDto[],
  { offset, limit }: ListPage,
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
