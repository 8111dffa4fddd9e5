// Common parts of all provider wires: requests as JSON, vectors as slices of the answer, recordable counts and ids.
import { MAX_TOKENS } from '../../domain/token-count.js';
import type { Vector } from '../../vectors/vectors.js';
import { BrokenAnswer, UnusableVector } from './provider.js';
import type { UpstreamRequest, UpstreamResponse } from './provider.js';
import { JsonScanner } from '../../json/json-scanner.js';
import { withoutUserInfo } from './address.js';

export const JSON_TYPE = 'application/json';
const MAX_ID_LENGTH = 1_000;
// Errors are small; anything longer is a page of a proxy.
const MAX_ERROR_BYTES = 16_384;
const EVENT_FIELD = /^\ufeff?\s*(?:data|event|id|retry)?:/;
const EVENT_FIELD_BYTES = 100;
const LINE_END = /\r\n|\r|\n/;
const EVENT_END = /(?:\r\n|\r|\n){2,}/;

type Members = Readonly<Record<string, unknown>>;

/** A request without its body, which is JSON. `accept`: absent, the header is not sent. */
export function postTo(
  url: string,
  headers: Readonly<Record<string, string>>,
  accept?: string,
): Omit<UpstreamRequest, 'body'> {
  const address = withoutUserInfo(url);
  return {
    method: 'POST',
    url: address.url,
    // A key that is sent as `Authorization` takes precedence over the address's password.
    headers: {
      'content-type': JSON_TYPE,
      ...(accept !== undefined && { accept }),
      ...address.headers,
      ...headers,
    },
  };
}

export function postJson(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Members,
): UpstreamRequest {
  return { ...postTo(url, headers, JSON_TYPE), body: JSON.stringify(body) };
}

export function bearer(apiKey: string | undefined): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}

/** Omits an undefined member, because upstreams refuse null. */
export function given(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value };
}

export function asObject(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

/** Null when the upstream sends no valid count. No input is empty, so 0 is not valid either. */
export function tokenCount(value: unknown): number | null {
  return partialTokenCount(value) || null;
}

/** The same for a part of the tokens, such as those of one modality: 0 is valid. */
export function partialTokenCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS
    ? value
    : null;
}

/** A token count from a header. */
export function tokenCountHeader(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d+$/.test(header) ? tokenCount(Number(header)) : null;
}

/** PostgreSQL stores neither NUL nor a lone surrogate: an invalid id must not prevent the record of the call. */
export function recordableId(id: unknown): string | null {
  const isRecordable =
    typeof id === 'string' && id.length <= MAX_ID_LENGTH && id.isWellFormed() && !id.includes('\0');
  return isRecordable ? id : null;
}

export function readVector(cursor: JsonScanner): Vector {
  if (cursor.isString()) return { form: 'base64', text: cursor.plainString() };
  if (!cursor.isArray()) throw new UnusableVector('a vector is neither a list of numbers nor base64');
  return { form: 'json', text: cursor.flatArray() };
}

/** An array of vectors, in the order of the inputs. */
export function readVectors(cursor: JsonScanner): Vector[] {
  const vectors: Vector[] = [];
  cursor.eachElement(() => vectors.push(readVector(cursor)));
  return vectors;
}

/**
 * Reads an array of objects that each hold a vector in the member `name`. Calls `take` with the vector and its `index`,
 * or its position without one. Returns the number of vectors; throws `whenMissing` for an object without one.
 */
export function eachVector(
  cursor: JsonScanner,
  { name, whenMissing }: { readonly name: string; readonly whenMissing: string },
  take: (vector: Vector, index: unknown, nth: number) => void,
): number {
  let nth = 0;
  cursor.eachElement(() => {
    let vector: Vector | null = null;
    let index: unknown = nth;
    cursor.eachMember((member) => {
      if (member === name) vector = readVector(cursor);
      else if (member === 'index') index = cursor.value();
      else cursor.skipValue();
    });
    if (vector === null) throw new BrokenAnswer(whenMissing);
    take(vector, index, nth++);
  });
  return nth;
}

/**
 * Reads an object in one pass over its bytes: the member `vectorsName` holds the vectors, and the members in `others`
 * become values.
 */
export function readAnswerObject(
  response: UpstreamResponse,
  vectorsName: string,
  read: (cursor: JsonScanner) => Vector[],
  others: readonly string[],
): { readonly vectors: readonly Vector[]; readonly members: Members } {
  const cursor = new JsonScanner(response.body, BrokenAnswer);
  const members: Record<string, unknown> = {};
  let vectors: Vector[] | null = null;
  cursor.eachMember((name) => {
    if (name === vectorsName) vectors = read(cursor);
    else if (others.includes(name)) members[name] = cursor.value();
    else cursor.skipValue();
  });
  cursor.end();
  if (vectors === null) throw new BrokenAnswer(`the answer has no ${vectorsName}`);
  return { vectors, members };
}

/** Some servers send errors as events of a stream, whatever the status is: their data. */
export function errorText(response: UpstreamResponse): string {
  const text = response.body.toString('utf8', 0, MAX_ERROR_BYTES);
  if (!isEventStream(response.body)) return text;
  const data = text.split(EVENT_END).map(dataOf);
  return data.find((one) => one.trim() !== '') ?? text;
}

export function isEventStream(body: Buffer): boolean {
  return EVENT_FIELD.test(body.toString('utf8', 0, EVENT_FIELD_BYTES));
}

function dataOf(event: string): string {
  const lines = event.split(LINE_END).filter((line) => line.startsWith('data:'));
  return lines.map((line) => line.slice('data:'.length).replace(/^ /, '')).join('\n');
}

/** Empty when the body is not a JSON object: a proxy's page or a truncated body. Some servers wrap the object in a list. */
export function parseErrorBody(response: UpstreamResponse): Members {
  try {
    const body: unknown = JSON.parse(errorText(response));
    return asObject(Array.isArray(body) ? body[0] : body);
  } catch {
    return {};
  }
}

/** The status that an error body states under one of the usual names. */
export function statedStatus(body: Members): number | null {
  const error = asObject(body['error']);
  for (const members of [error, body])
    for (const name of ['code', 'status', 'status_code', 'statusCode']) {
      const stated = members[name];
      // An object may have no text of its own.
      if (typeof stated !== 'number' && typeof stated !== 'string') continue;
      const status = Number(stated);
      if (Number.isInteger(status) && status >= 400 && status < 600) return status;
    }
  return null;
}

/** Reads members at the top of an answer, whatever the others hold. */
export function readTopMembers(response: UpstreamResponse, names: readonly string[]): Members {
  const cursor = new JsonScanner(response.body, BrokenAnswer);
  const members: Record<string, unknown> = {};
  if (!cursor.isObject()) return members;
  cursor.eachMember((name) => {
    if (names.includes(name)) members[name] = cursor.value();
    else cursor.skipValue();
  });
  return members;
}
