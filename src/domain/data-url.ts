// Data URLs in base64, as requests have media in them.

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w.+=-]+)*;base64,/i;
// Longer beginnings are no media type.
const MAX_PREFIX = 256;

export interface DataUrl {
  /** In lower case; null: absent. */
  readonly mediaType: string | null;
  /** Where the data begin. */
  readonly from: number;
}

/** Null: the text is none. */
export function readDataUrl(url: string): DataUrl | null {
  const match = DATA_URL.exec(url.slice(0, MAX_PREFIX));
  return match && { mediaType: match[1]?.toLowerCase() ?? null, from: match[0].length };
}
