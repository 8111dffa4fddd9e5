// The golden documents on disk. A kind has a document of its own, or a JSON Patch of the generic document where that is
// much shorter. Parts that several kinds send stand once, in the shared document.
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { isObject, mapMembers, pointerName, pointerNames } from './json.js';
import type { Json, JsonObject } from './json.js';
import { differenceOf, patchDocument } from './json-patch.js';
import type { PatchOperation } from './json-patch.js';

/** The kind whose document others are patches of. */
export const GENERIC_KIND = 'otel-collector';

const FOLDER = new URL('../../contract/golden/', import.meta.url);
const SHARED = 'shared';
/** The longest patch, relative to the document. */
const MAX_PATCH = 1 / 3;

const documentOf = (name: string): URL => new URL(`${name}.json`, FOLDER);
const patchOf = (type: string): URL => new URL(`${type}.patch.json`, FOLDER);

/** The generic document of the same operation. */
const genericOf = (name: string): string => name.replace(/^[^.]+/, GENERIC_KIND);

/** The documents that have a file: kinds, and kinds with `.chat` or `.rerank`. */
export async function goldenKinds(): Promise<string[]> {
  const names = (await readdir(FOLDER)).map((file) => file.replace(/(\.patch)?\.json$/, ''));
  return names.filter((name) => name !== SHARED);
}

export async function readShared(): Promise<JsonObject> {
  return (await read(documentOf(SHARED))) as JsonObject;
}

export async function writeShared(parts: Json): Promise<void> {
  await write(documentOf(SHARED), parts);
}

export async function readGolden(type: string): Promise<Json> {
  const files = await readdir(FOLDER);
  const document = files.includes(`${type}.patch.json`)
    ? patchDocument(await read(documentOf(genericOf(type))), (await read(patchOf(type))) as PatchOperation[])
    : await read(documentOf(type));
  return resolved(document, await readShared());
}

/** Writes a kind in the shorter form. The generic kind and the shared parts are written before the others. */
export async function writeGolden(type: string, whole: Json): Promise<void> {
  const document = referring(whole, Object.entries(await readShared()));
  const generic = genericOf(type);
  const patch = type === generic ? null : shortPatch(await read(documentOf(generic)), document);
  await rm(patch ? documentOf(type) : patchOf(type), { force: true });
  await (patch ? write(patchOf(type), patch) : write(documentOf(type), document));
}

/** Null when the document itself is better to read. */
function shortPatch(old: Json, current: Json): PatchOperation[] | null {
  const patch = differenceOf(old, current);
  return lengthOf(patch) <= MAX_PATCH * lengthOf(current) ? patch : null;
}

/** Replaces every shared part by a reference, with the differences if there are few. */
function referring(value: Json, shared: readonly (readonly [string, Json])[]): Json {
  if (isObject(value)) {
    for (const [name, part] of shared) {
      const patch = isObject(part) && JSON.stringify(value) !== '{}' ? shortPatch(part, value) : null;
      if (!patch) continue;
      const $ref = `${SHARED}.json#/${pointerName(name)}`;
      return patch.length === 0 ? { $ref } : { $ref, $patch: JSON.parse(JSON.stringify(patch)) as Json };
    }
  }
  return mapMembers(value, (member) => referring(member, shared));
}

function resolved(value: Json, shared: JsonObject): Json {
  const { $ref = null, $patch = [] } = isObject(value) ? value : {};
  if (typeof $ref !== 'string') return mapMembers(value, (member) => resolved(member, shared));
  const part = shared[pointerNames($ref)[0] ?? ''];
  if (part === undefined) throw new Error(`${$ref}: no such part`);
  return patchDocument(part, $patch as unknown as PatchOperation[]);
}

const lengthOf = (value: unknown): number => JSON.stringify(value).length;

async function read(file: URL): Promise<Json> {
  return JSON.parse(await readFile(file, 'utf8')) as Json;
}

async function write(file: URL, value: unknown): Promise<void> {
  const { format, resolveConfig } = await import('prettier');
  const options = await resolveConfig(file.pathname);
  await writeFile(file, await format(JSON.stringify(value), { ...options, parser: 'json' }));
}
