// Thoughts that come back in `reasoning_details`: the entries of one block join, and a signature ends its block. A thought without the
// signature of this wire's producer cannot be sent: it is lost, and never becomes a visible text.
import type { ChatMessage, JsonObject, JsonValue } from '../../../domain/chat/chat-request.js';
import { ANTHROPIC_FORMAT, isProducersFormat } from '../../../domain/chat/reasoning-producer.js';
import { isArray, isObject } from '../../../domain/members.js';

/** Begins the signatures of thoughts that did not come from this wire's producer. */
export const OWN_SIGNATURE = 'sbx1.';

/** Thoughts of the history that are not sent, as attempts record them: by clients of the Messages wire, and by others. */
export const THINKING = 'messages.content.thinking';
export const REASONING_DETAILS = 'messages.reasoning_details';

/** `{type: "thinking" | "redacted_thinking"}`, in their order. `lost`: thoughts that are not sent. */
export function thinkingBlocks(details: JsonValue | undefined): {
  readonly blocks: readonly JsonObject[];
  readonly lost: number;
} {
  const blocks: JsonObject[] = [];
  let open: { index: JsonValue; text: string } | null = null;
  let lost = 0;
  const abandon = (): void => {
    if (open !== null && open.text !== '') lost++;
    open = null;
  };
  for (const detail of isArray(details) ? details : []) {
    if (!isObject(detail)) continue;
    const { type, format, index = null, text, signature, data } = detail;
    if (format !== undefined && format !== null && format !== ANTHROPIC_FORMAT) {
      lost++;
      continue;
    }
    if (type === 'reasoning.encrypted') {
      abandon();
      // Signatures of other producers have no format where a client has lost it, but the id of a call.
      if (format === ANTHROPIC_FORMAT && typeof data === 'string')
        blocks.push({ type: 'redacted_thinking', data });
      else lost++;
    } else if (type === 'reasoning.text') {
      if (open !== null && open.index !== index) abandon();
      open ??= { index, text: '' };
      if (typeof text === 'string') open.text += text;
      if (typeof signature !== 'string' || signature === '') continue;
      blocks.push({ type: 'thinking', thinking: open.text, signature });
      open = null;
    }
  }
  abandon();
  return { blocks, lost };
}

/** Of a thought that only its producer reads. */
export interface SignedThought {
  readonly format: string;
  /** Or the encrypted text. */
  readonly signature: string;
}

/** Null: the detail has no signature, or one of a producer that is not known. */
export function signedThought(detail: JsonValue): SignedThought | null {
  if (!isObject(detail) || !isProducersFormat(detail['format'])) return null;
  const { format, signature, data } = detail;
  if (typeof signature === 'string' && signature !== '') return { format, signature };
  return typeof data === 'string' ? { format, signature: data } : null;
}

/** Of all messages, the oldest first. */
export function* signaturesIn(messages: readonly ChatMessage[]): Generator<SignedThought> {
  for (const { body } of messages) {
    const { reasoning_details: details } = body;
    for (const detail of isArray(details) ? details : []) {
      const signed = signedThought(detail);
      if (signed !== null) yield signed;
    }
  }
}
