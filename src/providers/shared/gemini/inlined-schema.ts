// JSON Schemas for Gemini: references into the same document are replaced by their targets, as Google's reader of `$ref` is partial.
// Nothing else changes.
import type { JsonObject, JsonValue } from '../../../domain/chat/chat-request.js';
import { isArray, isObject } from '../../../domain/members.js';

const MAX_DEPTH = 32;
// Values of all inlined targets. References beyond them stay: their definitions stay as well.
const MAX_VALUES = 20_000;

/** Without the `$schema` of its root. Circular references stay. */
export function inlinedSchema(schema: JsonObject): JsonObject {
  const { $schema: _dialect, ...root } = schema;
  return new Inlining(root).of(root, []) as JsonObject;
}

class Inlining {
  private left = MAX_VALUES;

  constructor(private readonly root: JsonObject) {}

  /** `path`: the references that led here. */
  of(value: JsonValue, path: readonly string[]): JsonValue {
    if (path.length > 0) this.left--;
    if (isArray(value)) return value.map((each) => this.of(each, path));
    if (!isObject(value)) return value;
    const { $ref: reference, ...rest } = value;
    const target = typeof reference === 'string' ? this.targetOf(reference, path) : null;
    if (target === null || typeof reference !== 'string') return this.members(value, path);
    const inlined = this.of(target, [...path, reference]) as JsonObject;
    return { ...inlined, ...this.members(rest, path) };
  }

  private members(value: JsonObject, path: readonly string[]): JsonObject {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.of(each, path)]));
  }

  /** Null: the reference stays. */
  private targetOf(reference: string, path: readonly string[]): JsonObject | null {
    const isAllowed = path.length < MAX_DEPTH && !path.includes(reference) && this.left > 0;
    if (!isAllowed || !reference.startsWith('#/')) return null;
    let target: JsonValue | undefined = this.root;
    for (const step of reference.slice(2).split('/').map(unescaped)) {
      if (isArray(target)) target = target[Number(step)];
      else if (isObject(target) && Object.hasOwn(target, step)) target = target[step];
      else return null;
    }
    return isObject(target) ? target : null;
  }
}

/** A step of a JSON Pointer in a URI. */
function unescaped(step: string): string {
  return decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
