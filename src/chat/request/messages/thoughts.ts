// Thoughts in turns of the Messages wire that an endpoint must not get: those of other producers, and those of another account.
import type { JsonObject, NativeCut } from '../../../domain/chat/chat-request.js';
import { isArray, isObject } from '../../../domain/members.js';
import { OWN_SIGNATURE } from '../../../providers/shared/messages/reasoning-details.js';

/** `isReadable`: whether the endpoint reads thoughts with this signature. */
export function thinkingCuts(
  turns: readonly unknown[],
  isReadable: (signature: string) => boolean = () => true,
): NativeCut[] {
  return turns.flatMap((turn, index): NativeCut[] => {
    const { role, content } = turn as JsonObject;
    const blocks = role === 'assistant' && isArray(content) ? content : [];
    const lost = blocks.flatMap((block, at) => (isLost(block, isReadable) ? [at] : []));
    if (lost.length === 0) return [];
    return [{ member: 'messages', index, inner: lost.length === blocks.length ? null : lost }];
  });
}

/** The signature of this wire's producer; null: the thought is another's. */
export function vendorSignature(signature: unknown): string | null {
  const isVendors = typeof signature === 'string' && signature !== '' && !signature.startsWith(OWN_SIGNATURE);
  return isVendors ? signature : null;
}

function isLost(block: unknown, isReadable: (signature: string) => boolean): boolean {
  if (!isObject(block)) return false;
  const { type, signature, data } = block as JsonObject;
  if (type === 'redacted_thinking') return typeof data === 'string' && !isReadable(data);
  if (type !== 'thinking') return false;
  const signed = vendorSignature(signature);
  return signed === null || !isReadable(signed);
}
