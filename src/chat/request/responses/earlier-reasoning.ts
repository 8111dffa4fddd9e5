// Reasoning items that come back, as entries of `reasoning_details`. Their encrypted content names its producer: other providers never
// get it, and no thought becomes a visible text.
import type { JsonObject, NativeCut } from '../../../domain/chat/chat-request.js';
import { OPENAI_FORMAT } from '../../../domain/chat/reasoning-producer.js';
import { rejectMember } from '../../../domain/errors.js';
import { isArray, isGiven, isObject } from '../../../domain/members.js';
import { OWN_SIGNATURE } from '../../../providers/shared/messages/reasoning-details.js';
import { openEnvelope } from '../../kernel/reasoning-envelope.js';
import { encryptedThought } from '../kernel-messages.js';

/** `index`: of the first entry. */
export function earlierReasoning(item: JsonObject, index: number, at: string): JsonObject[] {
  const { encrypted_content: encrypted } = item;
  if (isGiven(encrypted) && typeof encrypted !== 'string')
    rejectMember(`${at}.encrypted_content`, 'must be a string');
  const text = [...textsOf(item['summary']), ...textsOf(item['content'])].join('');
  const sealed = typeof encrypted === 'string' ? openEnvelope(encrypted) : null;
  if (typeof encrypted !== 'string' || (sealed === null && !isOpen(encrypted)))
    return text === '' ? [] : [{ type: 'reasoning.text', text, index }];
  if (sealed?.kind === 'signature')
    return [{ type: 'reasoning.text', format: sealed.format, text, signature: sealed.text, index }];
  const { format, text: data } = sealed ?? { format: OPENAI_FORMAT, text: encrypted };
  const { id } = item;
  return encryptedThought({ format, index, text, data, ...(typeof id === 'string' && { id }) });
}

/** Reasoning items that an endpoint of the wire cannot read: a provider that keeps nothing does not know them by their id. */
export function reasoningCuts(
  input: unknown,
  isReadable: (encrypted: string) => boolean = () => true,
): NativeCut[] {
  return (isArray(input) ? input : []).flatMap((item, index): NativeCut[] => {
    const { type, encrypted_content: encrypted } = (isObject(item) ? item : {}) as JsonObject;
    if (type !== 'reasoning') return [];
    const isKept = typeof encrypted === 'string' && isOpen(encrypted) && isReadable(encrypted);
    return isKept ? [] : [{ member: 'input', index, inner: null }];
  });
}

/** Content of this wire's producer. */
function isOpen(encrypted: string): boolean {
  return encrypted !== '' && !encrypted.startsWith(OWN_SIGNATURE);
}

function textsOf(parts: unknown): string[] {
  return (isArray(parts) ? parts : []).flatMap((part) => {
    const text = isObject(part) ? part['text'] : null;
    return typeof text === 'string' ? [text] : [];
  });
}
