// Reads the `trace` object of a call: five known keys, all others are the caller's metadata. The caller controls the
// JSON, so any value may occur.
import { boundedText } from './text/bounded-text.js';

/** The caller's `trace` object: five known keys, all others are metadata (docs/contract.md#embeddings-request). */
export type CallerTrace = Readonly<Record<string, unknown>>;

const KNOWN_KEYS = ['trace_id', 'trace_name', 'span_name', 'generation_name', 'parent_span_id'] as const;
type KnownKey = (typeof KNOWN_KEYS)[number];

// The bound of a whole trace at the edge.
const MAX_TEXT_LENGTH = 16_384;
const MAX_DEPTH = 32;

/** Null when the key is missing or empty. Numbers are read as their text. */
export function traceText(trace: CallerTrace | null, key: KnownKey): string | null {
  const value = trace?.[key];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The caller's own members: well-formed, and within the nesting bound of requests. */
export function callerMetadata(trace: CallerTrace | null): Readonly<Record<string, unknown>> {
  const own = Object.entries(trace ?? {}).filter(([key]) => !(KNOWN_KEYS as readonly string[]).includes(key));
  return copyOfEntries(own, MAX_DEPTH);
}

function copyOfEntries(
  entries: readonly (readonly [string, unknown])[],
  depth: number,
): Record<string, unknown> {
  return Object.fromEntries(
    entries.map(([key, value]) => [boundedText(key, MAX_TEXT_LENGTH), copyOf(value, depth - 1)]),
  );
}

function copyOf(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return boundedText(value, MAX_TEXT_LENGTH);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  return Array.isArray(value)
    ? value.map((item) => copyOf(item, depth - 1))
    : copyOfEntries(Object.entries(value), depth);
}
