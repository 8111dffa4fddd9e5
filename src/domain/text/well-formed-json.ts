// JSON for readers that reject a whole request for a lone surrogate, as ClickHouse does.

// Match every escape, so that an escaped backslash never starts another one. JSON.stringify escapes only lone
// surrogates.
const SURROGATE = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;
const NUL = /\\(?:u0000|.)/g;
// The length of the escape of a whole code unit: no other escape that these patterns match is that long.
const UNIT_LENGTH = 6;

/** Like JSON.stringify, with U+FFFD for every lone surrogate, in keys as well. */
export function wellFormedJson(value: object): string {
  const json = JSON.stringify(value);
  return json.includes('\\ud') ? withReplaced(json, SURROGATE) : json;
}

/** JSON text with U+FFFD for every U+0000, for stores that cannot hold it. */
export function withoutNul(json: string): string {
  return json.includes('\\u0000') ? withReplaced(json, NUL) : json;
}

function withReplaced(json: string, escapes: RegExp): string {
  return json.replace(escapes, (escape) => (escape.length === UNIT_LENGTH ? '\ufffd' : escape));
}

// Characters that JSON must escape, and surrogates, which may be lone.
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** Like `wellFormedJson` for one text. Most texts only need quotation marks, which the check detects faster. */
export function wellFormedText(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text.toWellFormed()) : `"${text}"`;
}
