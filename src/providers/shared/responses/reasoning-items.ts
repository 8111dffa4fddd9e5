// Reasoning that comes back in `reasoning_details`: the entries of one index are one item. Without encrypted content of this wire's
// producer it cannot be sent: it is lost, and never becomes a visible text.
import type { JsonObject, JsonValue } from '../../../domain/chat/chat-request.js';
import { OPENAI_FORMAT } from '../../../domain/chat/reasoning-producer.js';
import { isArray, isObject } from '../../../domain/members.js';

/** Items of the type `reasoning`, in their order. `lost`: entries that are not sent. */
export function reasoningItems(details: JsonValue | undefined): {
  readonly items: readonly JsonObject[];
  readonly lost: number;
} {
  const items: JsonObject[] = [];
  let summary: { readonly index: JsonValue; readonly texts: string[] } | null = null;
  let lost = 0;
  for (const detail of isArray(details) ? details : []) {
    if (!isObject(detail)) continue;
    const { type, format, index = null, summary: text, data, id } = detail;
    if (format !== OPENAI_FORMAT) lost++;
    else if (type === 'reasoning.summary' && typeof text === 'string') {
      if (summary !== null && summary.index !== index) {
        summary = null;
        lost++;
      }
      summary ??= { index, texts: [] };
      summary.texts.push(text);
    } else if (type === 'reasoning.encrypted' && typeof data === 'string') {
      const texts = summary?.index === index ? summary.texts : [];
      if (summary !== null && texts.length === 0) lost++;
      summary = null;
      items.push({
        type: 'reasoning',
        ...(typeof id === 'string' && { id }),
        summary: texts.length === 0 ? [] : [{ type: 'summary_text', text: texts.join('') }],
        encrypted_content: data,
      });
    } else lost++;
  }
  return { items, lost: lost + (summary === null ? 0 : 1) };
}
