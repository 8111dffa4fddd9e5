// Differences between JSON documents in the form of JSON Patch (RFC 6902), in the order of the document. An added member
// names the member that it precedes, because the order of members is a part of a payload. The RFC ignores such a name.
import { isList, isObject, mapMembers, pointerName, pointerNames } from './json.js';
import type { Json, JsonObject } from './json.js';

export type PatchOperation =
  | { readonly op: 'add'; readonly path: string; readonly value: Json; readonly before?: string }
  | { readonly op: 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

/** The operations that turn `old` into `current`. */
export function differenceOf(old: Json, current: Json, path = ''): PatchOperation[] {
  if (JSON.stringify(old) === JSON.stringify(current)) return [];
  if (isList(old) && isList(current) && old.length === current.length) {
    return current.flatMap((value, index) => differenceOf(old[index] ?? null, value, `${path}/${index}`));
  }
  if (isObject(old) && isObject(current) && isSameOrder(old, current)) {
    return membersDifference(old, current, path);
  }
  return [{ op: 'replace', path, value: current }];
}

function membersDifference(old: JsonObject, current: JsonObject, path: string): PatchOperation[] {
  const pathOf = (name: string): string => `${path}/${pointerName(name)}`;
  const names = Object.keys(current);
  const removed = Object.keys(old).filter((name) => !Object.hasOwn(current, name));
  return [
    ...removed.map((name) => ({ op: 'remove' as const, path: pathOf(name) })),
    ...Object.entries(current).flatMap(([name, value], index): PatchOperation[] => {
      if (Object.hasOwn(old, name)) return differenceOf(old[name] ?? null, value, pathOf(name));
      const before = names.slice(index).find((next) => Object.hasOwn(old, next));
      return [{ op: 'add', path: pathOf(name), value, ...(before === undefined ? {} : { before }) }];
    }),
  ];
}

function isSameOrder(old: JsonObject, current: JsonObject): boolean {
  const kept = Object.keys(old).filter((name) => Object.hasOwn(current, name));
  const after = Object.keys(current).filter((name) => Object.hasOwn(old, name));
  return kept.every((name, index) => name === after[index]);
}

export function patchDocument(document: Json, operations: readonly PatchOperation[]): Json {
  return operations.reduce(
    (result, operation) => applyAt(result, pointerNames(operation.path), operation),
    document,
  );
}

function applyAt(node: Json, [name, ...rest]: readonly string[], operation: PatchOperation): Json {
  if (name === undefined) return operation.op === 'remove' ? null : operation.value;
  const isParent = isObject(node) && rest.length === 0;
  if (isParent && operation.op === 'add') {
    const names = Object.keys(node);
    const next = operation.before === undefined ? names.length : names.indexOf(operation.before);
    return Object.fromEntries(Object.entries(node).toSpliced(next, 0, [name, operation.value]));
  }
  // A patch of a document that has changed since must not be ignored.
  if (!(isList(node) || isObject(node)) || !Object.hasOwn(node, name)) {
    throw new Error(`${operation.path}: the patched document has no such member`);
  }
  if (isParent && operation.op === 'remove') {
    return Object.fromEntries(Object.entries(node).filter(([member]) => member !== name));
  }
  return mapMembers(node, (member, other) => (other === name ? applyAt(member, rest, operation) : member));
}
