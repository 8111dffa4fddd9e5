// The content of a call as one JSON text, which stays valid when it is cut.
import type { TracedContent } from '../../domain/generations/generation-trace.js';
import { wellFormedJson, wellFormedText } from '../../domain/text/well-formed-json.js';

const OPENING = '{"input":[';
const CLOSING = ']}';

export interface ContentText {
  readonly text: string;
  /** The text as a JSON string. */
  readonly json: string;
  /** Whether a part is missing, cut here or before. */
  readonly isTruncated: boolean;
}

/** `{"input":[…]}` of at most `maxLength` characters, cut at the end. */
export function inputText({ items, isTruncated }: TracedContent, maxLength: number): ContentText {
  const whole = OPENING + wellFormedJson(items).slice(1, -1) + CLOSING;
  const fits = whole.length <= maxLength;
  const text = fits ? whole : cutInput(items, maxLength);
  return { text, json: wellFormedText(text), isTruncated: isTruncated || !fits };
}

function cutInput(items: TracedContent['items'], maxLength: number): string {
  const parts: string[] = [];
  let room = maxLength - OPENING.length - CLOSING.length;
  for (const given of items) {
    const item = typeof given === 'string' ? given.toWellFormed() : given;
    const separator = parts.length === 0 ? 0 : 1;
    const part = JSON.stringify(item);
    if (part.length + separator > room) {
      const cut = typeof item === 'string' ? cutText(item, room - separator) : null;
      if (cut !== null) parts.push(cut);
      break;
    }
    parts.push(part);
    room -= part.length + separator;
  }
  return OPENING + parts.join(',') + CLOSING;
}

/** The beginning of a text as a JSON string of at most `room` characters; null when nothing fits. */
function cutText(value: string, room: number): string | null {
  let length = Math.min(value.length, room - 2);
  while (length > 0) {
    const part = JSON.stringify(beginning(value, length));
    if (part.length <= room) return part;
    // Escapes make the JSON longer than the text: shrink by the observed ratio, at least by one.
    length = Math.min(length - 1, Math.floor((length * room) / part.length));
  }
  return null;
}

/** The first characters of a text, without splitting a surrogate pair. */
export function beginning(value: string, length: number): string {
  if (value.length <= length) return value;
  const last = value.charCodeAt(length - 1);
  return value.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}
