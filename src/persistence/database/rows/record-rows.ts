// Passes rows and lists to plain statements. Rows are an array of a composite type, which PostgreSQL reads twice as fast
// as JSON. An array for each column costs a third more in batches of one call (docs/performance.md#tricks-in-force).
import { wellFormedJson, withoutNul } from '../../../domain/text/well-formed-json.js';

/** Texts that need no quotes in a record. */
const PLAIN = /^[\w.:+/=[\]-]+$/;
const SPECIALS = /["\\]/g;

/**
 * The text of a PostgreSQL array of a composite type with the columns `names`, in order. Null and undefined become
 * NULL, objects JSON, dates ISO texts. NUL and half a surrogate pair, which PostgreSQL cannot store, become U+FFFD: no
 * text of a caller or a provider may decide whether a row and its charge are stored. `measure` receives the length of
 * each row's text.
 */
export function writeRecords<Name extends string>(
  names: readonly Name[],
  rows: readonly Readonly<Record<Name, unknown>>[],
  measure?: (row: Readonly<Record<Name, unknown>>, length: number) => void,
): string {
  let text = '';
  for (const row of rows) {
    const start = text.length;
    text += text === '' ? '"(' : ',"(';
    let separator = '';
    for (const name of names) {
      text += separator + writeField(row[name]);
      separator = ',';
    }
    text += ')"';
    measure?.(row, text.length - start);
  }
  return `{${text}}`;
}

function writeField(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return '';
    case 'string':
      return writeText(value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value);
    case 'object':
      if (value === null) return '';
      return value instanceof Date ? value.toISOString() : writeText(withoutNul(wellFormedJson(value)));
    default:
      return String(value);
  }
}

function writeText(text: string): string {
  return PLAIN.test(text) ? text : quote(text);
}

// Of a value within a record, and of a character within the value.
const MARK = String.raw`\"`;
const QUOTE = String.raw`\\\"`;

/** Quotes a value twice: the record is itself a quoted element of the array. */
function quote(text: string): string {
  // Without a backslash, as most JSON is, a replacement without a pattern takes a quarter of the time.
  const quoted = text.includes('\\')
    ? text.replaceAll(SPECIALS, String.raw`\\\$&`)
    : text.replaceAll('"', QUOTE);
  return MARK + quoted + MARK;
}

/**
 * A list parameter of a statement whose plan PostgreSQL keeps: hides the length of the list from the planner. A visible list
 * of one looks so much cheaper than one of unknown length that the planner plans again each time, and planning takes several
 * times as long as reading.
 */
export function opaqueArray(parameter: string, type: string): string {
  return `(SELECT ${parameter}::${type}[])::${type}[]`;
}
