// Texts of others on their way out: of a bounded length, and well-formed.

/** The beginning of a text: at most `maxLength` UTF-16 units, and never half a character. */
export function boundedText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text.toWellFormed();
  const endsInsidePair = (text.codePointAt(maxLength - 1) ?? 0) > 0xffff;
  return text.slice(0, endsInsidePair ? maxLength - 1 : maxLength).toWellFormed();
}

/** Characters of a name, an id or the like. The edge takes nothing longer, so that two of them never become one. */
const MAX_LABEL_LENGTH = 1_000;

/** A name, an id or the like; null when it says nothing. */
export function boundedLabel(text: string | null | undefined): string | null {
  return text ? boundedText(text, MAX_LABEL_LENGTH) : null;
}
