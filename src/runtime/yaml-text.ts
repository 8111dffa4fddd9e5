// Writes a large object as YAML without blocking the event loop.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { stringify } from 'yaml';
import { isObject } from '../domain/members.js';

// Members of members of members: the schemas of the OpenAPI document.
const DEPTH = 3;

interface Member {
  readonly path: readonly string[];
  readonly value: unknown;
}

/**
 * The text of `stringify`, member by member: other work runs between two members. At once, the OpenAPI document blocks
 * the event loop for 450 ms. `document` is plain JSON, in which no object appears twice.
 */
export async function toYaml(document: object): Promise<string> {
  let text = '';
  let previous: readonly string[] = [];
  for (const { path, value } of membersOf(document)) {
    const nested = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
    // One line opens each enclosing object; the member before has written those that both share.
    const shared = previous.findIndex((name, level) => name !== path[level]);
    text += withoutLines(stringify(nested), Math.max(shared, 0));
    previous = path;
    await nextTurn();
  }
  return text;
}

function* membersOf(object: object, outer: readonly string[] = []): Generator<Member> {
  for (const [name, value] of Object.entries(object) as [string, unknown][]) {
    const path = [...outer, name];
    if (path.length < DEPTH && isObject(value) && Object.keys(value).length > 0)
      yield* membersOf(value, path);
    else yield { path, value };
  }
}

function withoutLines(text: string, count: number): string {
  let start = 0;
  for (let line = 0; line < count; line++) start = text.indexOf('\n', start) + 1;
  return text.slice(start);
}
