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

/** The kinds that have a file. */
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
    ? patchDocument(await read(documentOf(GENERIC_KIND)), (await read(patchOf(type))) as PatchOperation[])
    : await read(documentOf(type));
  return resolved(document, await readShared());
}

/** Writes a kind in the shorter form. The generic kind and the shared parts are written before the others. */
export async function writeGolden(type: string, whole: Json): Promise<void> {
  const names = Object.entries(await readShared()).map(
    ([name, part]) => [JSON.stringify(part), name] as const,
  );
  const document = referring(whole, new Map(names));
  const patch = type === GENERIC_KIND ? null : differenceOf(await read(documentOf(GENERIC_KIND)), document);
  const isPatch = patch !== null && lengthOf(patch) <= MAX_PATCH * lengthOf(document);
  await rm(isPatch ? documentOf(type) : patchOf(type), { force: true });
  await (isPatch ? write(patchOf(type), patch) : write(documentOf(type), document));
}

function referring(value: Json, sharedNames: ReadonlyMap<string, string>): Json {
  const name = sharedNames.get(JSON.stringify(value));
  if (name !== undefined) return { $ref: `${SHARED}.json#/${pointerName(name)}` };
  return mapMembers(value, (member) => referring(member, sharedNames));
}

function resolved(value: Json, shared: JsonObject): Json {
  const reference = isObject(value) ? value['$ref'] : undefined;
  if (typeof reference !== 'string') return mapMembers(value, (member) => resolved(member, shared));
  const part = shared[pointerNames(reference)[0] ?? ''];
  if (part === undefined) throw new Error(`${reference}: no such part`);
  return part;
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
