// Searches a text for the matches of filters in linear time: one automaton answers for most texts that nothing matches.
import { RE2JS } from 're2js';
import { endOfFirstMatch, matchPieces } from '../regex/regex-program.js';
import type { Pieces } from '../regex/regex-program.js';
import { BUILTIN_PATTERNS } from './content-filter.js';
import type { BuiltinFilter, ContentFilter, FilterAction } from './content-filter.js';
import type { GuardrailRef } from './guardrail.js';

/** The guardrail of a filter. */
export interface FilterOwner extends GuardrailRef {
  readonly name: string;
  readonly contentFilters: readonly ContentFilter[];
  readonly builtinFilters: readonly BuiltinFilter[];
}

export interface CompiledFilter {
  readonly guardrail: FilterOwner;
  /** Label or slug; else its index. Never the pattern. */
  readonly name: string;
  readonly isBuiltin: boolean;
  readonly action: FilterAction;
  readonly pattern: string;
  readonly placeholder: string;
  readonly isUserOnly: boolean;
  readonly hitLength: ((match: string) => number) | undefined;
}

export interface CompiledFilters {
  readonly list: readonly CompiledFilter[];
  /** Matches where one of the list does. */
  readonly any: string;
}

export interface FilterHit {
  readonly filter: CompiledFilter;
  readonly start: number;
  readonly end: number;
  /** False: the match goes on, or begins later; it has too many characters to be searched for at once. */
  readonly isWhole: boolean;
}

/** Null: no filter. */
export function compileFilters(owners: readonly FilterOwner[]): CompiledFilters | null {
  const list = owners.flatMap((guardrail): CompiledFilter[] => [
    ...guardrail.contentFilters.map(({ pattern, action, label }, index) => ({
      guardrail,
      name: label ?? String(index),
      isBuiltin: false,
      action,
      pattern,
      placeholder: `[${label ?? 'REDACTED'}]`,
      isUserOnly: false,
      hitLength: undefined,
    })),
    ...guardrail.builtinFilters.map(({ slug, action, scanScope }) => {
      const builtin = BUILTIN_PATTERNS[slug];
      return {
        guardrail,
        name: slug,
        isBuiltin: true,
        action,
        pattern: builtin.pattern,
        placeholder: `[${builtin.placeholder}]`,
        isUserOnly: scanScope === 'user_only',
        hitLength: 'hitLength' in builtin ? builtin.hitLength : undefined,
      };
    }),
  ]);
  if (list.length === 0) return null;
  const patterns = [...new Set(list.map(({ pattern }) => pattern))];
  return { list, any: patterns.map((pattern) => `(?:${pattern})`).join('|') };
}

// The library searches a window at once: tens of milliseconds for the largest pattern. A match is decided with at least LONGEST
// characters behind its beginning.
const LONGEST = 4_096;
const WINDOW = 2 * LONGEST;

/** All matches, filter by filter. */
export function* hitsIn(filters: CompiledFilters, text: string, isUser: boolean): Pieces<FilterHit[]> {
  const hits: FilterHit[] = [];
  if (text === '' || !(yield* matchPieces(filters.any, text))) return hits;
  for (const filter of filters.list) {
    if (filter.isUserOnly && !isUser) continue;
    if (!(yield* matchPieces(filter.pattern, text))) continue;
    const own = yield* hitsOf(filter, text);
    hits.push(...own);
    // Of the built-in filters with a length of their own, not every match counts.
    if (filter.hitLength !== undefined) continue;
    const missed = yield* missedHit(filter, text, own);
    if (missed) hits.push(missed);
  }
  return hits;
}

/** In windows that overlap. */
function* hitsOf(filter: CompiledFilter, text: string): Pieces<FilterHit[]> {
  const hits: FilterHit[] = [];
  const regex = RE2JS.compile(filter.pattern);
  // Behind the last match.
  let behind = 0;
  for (let from = 0; from < text.length;) {
    yield;
    const end = Math.min(text.length, from + WINDOW);
    const isLast = end === text.length;
    const next = isLast ? end : end - LONGEST;
    // With the character before it, on which a beginning may depend.
    const mayMatch = yield* matchPieces(filter.pattern, text.slice(Math.max(0, from - 1), end));
    const matcher = regex.matcher(text.slice(0, end));
    if (!mayMatch || !matcher.find(from)) {
      from = next;
      continue;
    }
    if (matcher.start() > next) {
      from = matcher.start();
      continue;
    }
    // One at the edge of a window may begin before it.
    const earliest = Math.max(behind, from - LONGEST);
    if (matcher.start() === from && from > behind) matcher.find(earliest);
    const start = matcher.start();
    const match = text.slice(start, matcher.end());
    const length = filter.hitLength ? filter.hitLength(match) : match.length;
    const isWhole = (isLast || matcher.end() < end) && (start > earliest || earliest === behind);
    if (length > 0) hits.push({ filter, start, end: start + length, isWhole });
    behind = from = start + Math.max(length, 1);
  }
  return hits;
}

/** A match that no window holds: it ends far behind the beginning of its search. */
function* missedHit(
  filter: CompiledFilter,
  text: string,
  hits: readonly FilterHit[],
): Pieces<FilterHit | undefined> {
  let from = 0;
  for (const { start: until, end: behind } of [...hits, { start: text.length, end: text.length }]) {
    while (until - from > LONGEST) {
      yield;
      const length = yield* endOfFirstMatch(filter.pattern, text.slice(from, until + 1));
      if (length === null || from + length > until) break;
      if (length > LONGEST) return { filter, start: from, end: from + length, isWhole: false };
      from += Math.max(length, 1);
    }
    from = behind;
  }
  return undefined;
}

/** A replaced part of a text. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The match that refuses a call; undefined: none. `canEdit`: whether a replacement leaves the call valid. A match without a known
 * end cannot be replaced.
 */
export function refusingHit(hits: readonly FilterHit[], canEdit = true): FilterHit | undefined {
  return (
    hits.find(({ filter }) => filter.action === 'block') ??
    hits.find(({ filter, isWhole }) => filter.action === 'redact' && !(canEdit && isWhole))
  );
}

/** The placeholders of `redact`. */
export function redactions(hits: readonly FilterHit[]): TextEdit[] {
  const redacted = hits.filter(({ filter }) => filter.action === 'redact');
  return mergedSpans(redacted).map(({ start, end, filter }) => ({ start, end, text: filter.placeholder }));
}

/** `edits` are in order, without overlaps. */
export function editedText(text: string, edits: readonly TextEdit[]): string {
  const kept = edits.map((edit, index) => text.slice(edits[index - 1]?.end ?? 0, edit.start) + edit.text);
  return [...kept, text.slice(edits.at(-1)?.end ?? 0)].join('');
}

/** In order, without overlaps: of overlapping matches the first gives the placeholder for all. */
function mergedSpans(hits: readonly FilterHit[]): FilterHit[] {
  const spans: FilterHit[] = [];
  for (const hit of hits.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    const last = spans.at(-1);
    if (!last || hit.start >= last.end) spans.push(hit);
    else if (hit.end > last.end) spans[spans.length - 1] = { ...last, end: hit.end };
  }
  return spans;
}
