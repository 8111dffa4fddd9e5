// The object key of a trace: a pure function of the trace, so that a repeated delivery overwrites the object.
import { boundedText } from '../../domain/text/bounded-text.js';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';

export interface KeyTemplate {
  readonly prefix: string;
  readonly pathTemplate: string;
}

const MAX_KEY_BYTES = 1_024;
// Characters of the API key's name.
const MAX_NAME_LENGTH = 100;

type PathFacts = Pick<GenerationTrace, 'endedAt' | 'apiKeyName'>;

/** The path of the template and `{traceId}-{seconds}.json`, with the seconds of the trace's end. */
export function objectKeyOf(template: KeyTemplate, trace: GenerationTrace): string {
  const { traceId, spanId, generationId, endedAt } = trace;
  // Generations can share a caller's trace id and may end within one second.
  const isShared = traceId !== generationId.replaceAll('-', '');
  const name = `${traceId}-${Math.floor(endedAt.getTime() / 1000)}${isShared ? `-${spanId}` : ''}.json`;
  return inPath(template, trace, name);
}

/** A file name within the path of the template. A path beyond the bound of object keys is cut at its end. */
export function inPath({ prefix, pathTemplate }: KeyTemplate, facts: PathFacts, name: string): string {
  const date = facts.endedAt.toISOString().slice(0, 10);
  const [year = '', month = '', day = ''] = date.split('-');
  const values: Readonly<Record<string, string>> = {
    prefix,
    date,
    year,
    month,
    day,
    // A single segment for every key name.
    apiKeyName: boundedText(facts.apiKeyName, MAX_NAME_LENGTH).replaceAll('/', '_'),
  };
  const path = pathTemplate
    .replace(/\{(\w+)\}/g, (whole, variable: string) =>
      Object.hasOwn(values, variable) ? (values[variable] ?? '') : whole,
    )
    .split('/')
    .map(safeSegment)
    .filter((segment) => segment !== '')
    .join('/');
  const folder = beginningWithin(MAX_KEY_BYTES - Buffer.byteLength(name) - 1, path).replace(/\/$/, '');
  return folder === '' ? name : `${folder}/${name}`;
}

/** The first whole characters of a text that have at most `maxBytes` bytes of UTF-8. */
function beginningWithin(maxBytes: number, text: string): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

/**
 * Replaces characters that make a key hard to access: control characters, backslashes, and segments that name another
 * folder.
 */
function safeSegment(segment: string): string {
  return /^\.{1,2}$/.test(segment) ? '_' : segment.replace(/[\p{C}\\]+/gu, '_');
}
