// Thoughts that come back in `reasoning_details`, as blocks of the Messages wire, and the signatures of any producer.
import type { ChatMessage, JsonObject, JsonValue } from '../../../domain/chat/chat-request.js';
import { ANTHROPIC_FORMAT, isProducersFormat } from '../../../domain/chat/reasoning-producer.js';
import { isArray, isObject } from '../../../domain/members.js';
import { earlierThoughts } from '../turns/earlier-thoughts.js';

/** Begins the signatures of thoughts that did not come from this wire's producer. */
export const OWN_SIGNATURE = 'sbx1.';

/** `{type: "thinking" | "redacted_thinking"}`, in their order. `lost`: thoughts that are not sent. */
export function thinkingBlocks(details: JsonValue | undefined): {
  readonly blocks: readonly JsonObject[];
  readonly lost: number;
} {
  const { thoughts, lost } = earlierThoughts(details, ANTHROPIC_FORMAT);
  const blocks = thoughts.map((thought) =>
    'data' in thought
      ? { type: 'redacted_thinking', data: thought.data }
      : { type: 'thinking', thinking: thought.text, signature: thought.signature },
  );
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
