// Thoughts that come back in `reasoning_details`: the entries of one block join, and a signature ends its block. A thought without the
// signature of the wire's producer cannot be sent: it is lost, and never becomes a visible text.
import type { JsonValue } from '../../../domain/chat/chat-request.js';
import { isArray, isObject } from '../../../domain/members.js';

/** Thoughts of the history that are not sent, as attempts record them: of clients of Messages, of Responses, and of others. */
export const THINKING = 'messages.content.thinking';
export const INPUT_REASONING = 'input.reasoning';
export const REASONING_DETAILS = 'messages.reasoning_details';
export const LOST_THOUGHTS: ReadonlySet<string> = new Set([THINKING, INPUT_REASONING, REASONING_DETAILS]);

/** Signed, or encrypted. */
export type EarlierThought =
  { readonly text: string; readonly signature: string } | { readonly data: string };

/** In their order. `format`: of the producer. `lost`: thoughts that are not sent. */
export function earlierThoughts(
  details: JsonValue | undefined,
  format: string,
): { readonly thoughts: readonly EarlierThought[]; readonly lost: number } {
  const thoughts: EarlierThought[] = [];
  let open: { index: JsonValue; text: string } | null = null;
  let lost = 0;
  const abandon = (): void => {
    if (open !== null && open.text !== '') lost++;
    open = null;
  };
  for (const detail of isArray(details) ? details : []) {
    if (!isObject(detail)) continue;
    const { type, format: own, index = null, text, signature, data } = detail;
    if (own !== undefined && own !== null && own !== format) {
      lost++;
      continue;
    }
    if (type === 'reasoning.encrypted') {
      abandon();
      // Signatures of other producers have no format where a client has lost it, but the id of a call.
      if (own === format && typeof data === 'string') thoughts.push({ data });
      else lost++;
    } else if (type === 'reasoning.text') {
      if (open !== null && open.index !== index) abandon();
      open ??= { index, text: '' };
      if (typeof text === 'string') open.text += text;
      if (typeof signature !== 'string' || signature === '') continue;
      thoughts.push({ text: open.text, signature });
      open = null;
    }
  }
  abandon();
  return { thoughts, lost };
}
