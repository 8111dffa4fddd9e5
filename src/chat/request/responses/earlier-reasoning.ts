// Reasoning items that come back, as entries of `reasoning_details`. Their encrypted content names its producer: other providers never
// get it, and no thought becomes a visible text.
import type { JsonObject } from '../../../domain/chat/chat-request.js';
import { OPENAI_FORMAT } from '../../../domain/chat/reasoning-producer.js';
import { rejectMember } from '../../../domain/errors.js';
import { isArray, isGiven, isObject } from '../../../domain/members.js';
import { openEnvelope } from '../../kernel/reasoning-envelope.js';

/** `index`: of the first entry. */
export function earlierReasoning(item: JsonObject, index: number, at: string): JsonObject[] {
  const { encrypted_content: encrypted } = item;
  if (isGiven(encrypted) && typeof encrypted !== 'string')
    rejectMember(`${at}.encrypted_content`, 'must be a string');
  const text = [...textsOf(item['summary']), ...textsOf(item['content'])].join('');
  if (typeof encrypted !== 'string' || encrypted === '')
    return text === '' ? [] : [{ type: 'reasoning.text', text, index }];
  const opaque = openEnvelope(encrypted);
  if (opaque === null)
    return [{ type: 'reasoning.encrypted', format: OPENAI_FORMAT, data: encrypted, index }];
  return opaque.kind === 'encrypted'
    ? [{ type: 'reasoning.encrypted', format: opaque.format, data: opaque.text, index }]
    : [{ type: 'reasoning.text', format: opaque.format, text, signature: opaque.text, index }];
}

function textsOf(parts: unknown): string[] {
  return (isArray(parts) ? parts : []).flatMap((part) => {
    const text = isObject(part) ? part['text'] : null;
    return typeof text === 'string' ? [text] : [];
  });
}
