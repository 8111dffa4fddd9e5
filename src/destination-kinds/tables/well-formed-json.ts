// JSON for readers that refuse a whole request for half a surrogate pair, as ClickHouse does.

// Any escape, so that the backslash of one is never taken for the start of the next. JSON.stringify writes a surrogate
// as an escape only where it stands alone.
const ESCAPE = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;
const LONE_SURROGATE_LENGTH = 6;

/** As JSON.stringify, with U+FFFD for every lone surrogate, in keys as well. */
export function wellFormedJson(value: object): string {
  const json = JSON.stringify(value);
  if (!json.includes('\\ud')) return json;
  return json.replace(ESCAPE, (escape) => (escape.length === LONE_SURROGATE_LENGTH ? '\ufffd' : escape));
}

// What cannot stand in JSON as it is, and surrogates, which may be alone.
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** As `wellFormedJson` for a text. Most texts need nothing but quotation marks, and to see that is faster. */
export function wellFormedText(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text.toWellFormed()) : `"${text}"`;
}
