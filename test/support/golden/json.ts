export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: Json;
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A name within a JSON Pointer (RFC 6901). */
export function pointerName(name: string | number): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The names of a JSON Pointer (RFC 6901). */
export function pointerNames(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * One line per value, each with its JSON Pointer. Equal lines mean equal values with members in the same order, and a
 * comparison of lines names the path of every difference.
 */
export function linesOf(value: Json, pointer = ''): string[] {
  const members = isList(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  if (members.length === 0) return [`${pointer} ${JSON.stringify(value)}`];
  return members.flatMap(([name, member]) => linesOf(member, `${pointer}/${pointerName(name)}`));
}

/** A copy of a list or an object, with other members. */
export function mapMembers(value: Json, map: (member: Json, name: string) => Json): Json {
  if (isList(value)) return value.map((item, index) => map(item, String(index)));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, map(member, name)]));
}
