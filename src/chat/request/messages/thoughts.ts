// Thoughts in the history of a request that an endpoint must not get: those of other producers, and those of another account.
import type { ChatMessage, ChatRequest, JsonObject, NativeCut } from '../../../domain/chat/chat-request.js';
import { isArray, isObject } from '../../../domain/members.js';
import {
  OWN_SIGNATURE,
  signaturesIn,
  signedThought,
  THINKING,
} from '../../../providers/shared/messages/reasoning-details.js';

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

/** The same request where the endpoint reads all of its signed thoughts. */
export function withReadableThoughts(
  request: ChatRequest,
  isReadable: (signature: string) => boolean,
): ChatRequest {
  if ([...signaturesIn(request.messages)].every(({ signature }) => isReadable(signature))) return request;
  const messages = request.messages.map((message) => withReadableDetails(message, isReadable));
  const { native } = request;
  if (native === null) return { ...request, messages };
  // Of a client that speaks Messages.
  const turns = JSON.parse(native.members.get('messages')?.toString() ?? '[]') as unknown[];
  const others = native.cuts.filter(({ member }) => member !== 'messages');
  const cuts = [...thinkingCuts(turns, isReadable), ...others];
  const edits = [...new Set([...native.edits, THINKING])];
  return { ...request, messages, native: { ...native, cuts, edits } };
}

function isLost(block: unknown, isReadable: (signature: string) => boolean): boolean {
  if (!isObject(block)) return false;
  const { type, signature, data } = block as JsonObject;
  if (type === 'redacted_thinking') return typeof data === 'string' && !isReadable(data);
  if (type !== 'thinking') return false;
  const signed = vendorSignature(signature);
  return signed === null || !isReadable(signed);
}

/** The text of a thought stays without its signature: no wire sends it, and its loss is recorded. */
function withReadableDetails(message: ChatMessage, isReadable: (signature: string) => boolean): ChatMessage {
  const { reasoning_details: details } = message.body;
  if (!isArray(details)) return message;
  const kept = details.map((detail) => {
    const signed = signedThought(detail);
    if (signed === null || isReadable(signed.signature) || !isObject(detail)) return detail;
    const { signature: _signature, data: _data, ...rest } = detail;
    return rest;
  });
  return { ...message, body: { ...message.body, reasoning_details: kept } };
}
