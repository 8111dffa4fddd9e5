// Answers whose content is a list of parts (Mistral's reasoning models): clients of the wire want a text.
import { JsonShape } from '../../../json/json-shape.js';
import type { JsonNode } from '../../../json/json-node.js';

const THINKING = Buffer.from('"thinking"');
const QUOTE = Buffer.from('"');

export const CONTENT_PART = new JsonShape(['type', 'text', 'thinking'], {
  thinking: new JsonShape(['type', 'text']),
});

/** The texts of the parts, joined, as JSON. Parts of other types have no place in a text. */
export function contentOfParts(parts: JsonNode): { readonly text: Buffer; readonly reasoning: Buffer } {
  const text: Buffer[] = [];
  const reasoning: Buffer[] = [];
  for (let at = 0; at < parts.count; at++) {
    const part = parts.child(at);
    if (part === null) take(parts, at, text);
    else if (!part.equals(part.find('type'), THINKING)) take(part, part.find('text'), text);
    else takeThinking(part, reasoning);
  }
  return { text: joined(text), reasoning: joined(reasoning) };
}

function takeThinking(part: JsonNode, into: Buffer[]): void {
  const thinking = part.find('thinking');
  const parts = part.child(thinking);
  if (parts === null) take(part, thinking, into);
  for (let at = 0; at < (parts?.count ?? 0); at++) {
    const inner = parts?.child(at);
    if (inner) take(inner, inner.find('text'), into);
    else if (parts) take(parts, at, into);
  }
}

/** The inside of a string. Escapes of both join as they are. */
function take(node: JsonNode, at: number, into: Buffer[]): void {
  if (!node.hasText(at)) return;
  const raw = node.raw(at);
  into.push(raw.subarray(1, raw.length - 1));
}

function joined(texts: readonly Buffer[]): Buffer {
  return Buffer.concat([QUOTE, ...texts, QUOTE]);
}
