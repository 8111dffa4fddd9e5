// The content of a call as one JSON text. It stays valid JSON however short it has to be.
import type { TracedContent } from '../../domain/generations/generation-trace.js';
import { wellFormedJson, wellFormedText } from '../tables/well-formed-json.js';

const OPENING = '{"input":[';
const CLOSING = ']}';

export interface InputText {
  readonly text: string;
  /** The text as JSON writes one. */
  readonly json: string;
  /** Whether something of the input is missing, cut here or before. */
  readonly isTruncated: boolean;
}

/** `{"input":[…]}` of at most so many characters; what does not fit is cut off at its end. */
export function inputText({ items, isTruncated }: TracedContent, maxLength: number): InputText {
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

/** The beginning of a text as a JSON string of at most so many characters; null where nothing of it fits. */
function cutText(value: string, room: number): string | null {
  let length = Math.min(value.length, room - 2);
  while (length > 0) {
    const part = JSON.stringify(beginning(value, length));
    if (part.length <= room) return part;
    // Escapes make the JSON longer than the text: shrink by the ratio seen, at least by one.
    length = Math.min(length - 1, Math.floor((length * room) / part.length));
  }
  return null;
}

/** The first characters of a text, never half of a surrogate pair. */
export function beginning(value: string, length: number): string {
  if (value.length <= length) return value;
  const last = value.charCodeAt(length - 1);
  return value.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}
