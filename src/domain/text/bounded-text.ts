// Bounds texts of callers and providers before they leave the process, and makes them well-formed.

/** The beginning of a text: at most `maxLength` UTF-16 units, without splitting a character. */
export function boundedText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text.toWellFormed();
  const endsInsidePair = (text.codePointAt(maxLength - 1) ?? 0) > 0xffff;
  return text.slice(0, endsInsidePair ? maxLength - 1 : maxLength).toWellFormed();
}

/** Characters of a label. The edge accepts nothing longer, so that truncation never makes two labels equal. */
const MAX_LABEL_LENGTH = 1_000;

/** A name, an id or a similar label; null when it is empty. */
export function boundedLabel(text: string | null | undefined): string | null {
  return text ? boundedText(text, MAX_LABEL_LENGTH) : null;
}
