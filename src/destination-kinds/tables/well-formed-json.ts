// JSON for readers that reject a whole request for a lone surrogate, as ClickHouse does.

// Matches every escape, so that an escaped backslash never starts another one. JSON.stringify escapes only lone
// surrogates.
const ESCAPE = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;
const LONE_SURROGATE_LENGTH = 6;

/** Like JSON.stringify, with U+FFFD for every lone surrogate, in keys as well. */
export function wellFormedJson(value: object): string {
  const json = JSON.stringify(value);
  if (!json.includes('\\ud')) return json;
  return json.replace(ESCAPE, (escape) => (escape.length === LONE_SURROGATE_LENGTH ? '\ufffd' : escape));
}

const NUL = /\\(?:u0000|.)/g;
const NUL_LENGTH = 6;

/** JSON text with U+FFFD for every U+0000, for stores that cannot hold it. */
export function withoutNul(json: string): string {
  if (!json.includes('\\u0000')) return json;
  return json.replace(NUL, (escape) => (escape.length === NUL_LENGTH ? '\ufffd' : escape));
}

// Characters that JSON must escape, and surrogates, which may be lone.
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** Like `wellFormedJson` for one text. Most texts only need quotation marks, which the check detects faster. */
export function wellFormedText(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text.toWellFormed()) : `"${text}"`;
}
