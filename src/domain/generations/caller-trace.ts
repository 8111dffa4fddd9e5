// Reads the `trace` object of a call: five keys that mean something here, any other is the caller's metadata. It is
// whatever JSON the caller sent, and may hold anything at all.
import { boundedText } from '../text/bounded-text.js';
import type { CallerTrace } from './generation.js';

const KNOWN_KEYS = ['trace_id', 'trace_name', 'span_name', 'generation_name', 'parent_span_id'] as const;
type KnownKey = (typeof KNOWN_KEYS)[number];

// As much as the edge takes of a whole trace.
const MAX_TEXT_LENGTH = 16_384;
const MAX_DEPTH = 32;

/** Null unless it says something. Numbers count as their text. */
export function traceText(trace: CallerTrace | null, key: KnownKey): string | null {
  const value = trace?.[key];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : null;
}

/** What the caller sent along for itself: well-formed, and no deeper than anything that is taken in. */
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
