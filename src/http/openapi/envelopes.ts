// The bodies around records: `{ "data": ... }`, and for pages the length of the whole list beside it. Contract:
// docs/contract.md#conventions.
import type { Type } from '@nestjs/common';
import { ObjectField, ObjectListField } from '../fields/compound-fields.js';
import { EnumField, IntegerField } from '../fields/scalar-fields.js';

export interface Data<Content> {
  data: Content;
}

export interface Page<Item> extends Data<Item[]> {
  total_count: number;
}

interface ListDescription {
  /** The order of the items. */
  readonly description?: string;
  /** The name of the schema, where it is not that of the record with `List`. */
  readonly name?: string;
}

/** The classes made so far: a schema has one class. */
const made = new Map<string, Type>();

/** `{ data }` with one record. `ApiKeyDto` gives the schema `Data<ApiKeyDto>`. */
export function dataOf<Item extends object>(item: Type<Item>): Type<Data<Item>> {
  return envelope(nameAfter(item, 'Response'), (prototype) => ObjectField(item)(prototype, 'data'));
}

/** `{ data }` with all records. */
export function listOf<Item extends object>(
  item: Type<Item>,
  { name = nameAfter(item, 'List'), ...options }: ListDescription = {},
): Type<Data<Item[]>> {
  return envelope(name, (prototype) => ObjectListField(item, options)(prototype, 'data'));
}

/** `{ data, total_count }`. */
export function pageOf<Item extends object>(
  item: Type<Item>,
  { name = nameAfter(item, 'List'), ...options }: ListDescription = {},
): Type<Page<Item>> {
  return envelope(name, (prototype) => {
    ObjectListField(item, options)(prototype, 'data');
    IntegerField({ description: 'Number of items in the whole list.' })(prototype, 'total_count');
  });
}

const nameAfter = ({ name }: Type, ending: string): string => name.replace(/Dto$/, `${ending}Dto`);

function envelope<Body>(name: string, define: (prototype: object) => void): Type<Body> {
  const known = made.get(name);
  if (known) return known as Type<Body>;
  const body = class {};
  Object.defineProperty(body, 'name', { value: name });
  define(body.prototype);
  made.set(name, body);
  return body as Type<Body>;
}

/** The body of a deletion. */
export class DeletedDto {
  @EnumField([true]) deleted: boolean;
}
