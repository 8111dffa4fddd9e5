// Answers whose content is a list of parts (Mistral's reasoning models): clients of the wire want a text.

/** The texts of the parts, joined. Parts of other types have no place in a text. */
export function contentOfParts(parts: unknown): { readonly text: string; readonly reasoning: string } {
  let text = '';
  let reasoning = '';
  for (const part of Array.isArray(parts) ? (parts as unknown[]) : [parts]) {
    if (typeof part === 'string') text += part;
    if (typeof part !== 'object' || part === null) continue;
    const { type, text: own, thinking } = part as Readonly<Record<string, unknown>>;
    if (type === 'thinking')
      reasoning += typeof thinking === 'string' ? thinking : contentOfParts(thinking).text;
    else if (typeof own === 'string') text += own;
  }
  return { text, reasoning };
}
