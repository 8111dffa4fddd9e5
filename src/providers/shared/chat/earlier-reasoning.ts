// The model's earlier reasoning, which clients send back under the name that they know, or in `reasoning_details`
// (docs/contract.md#chat-messages).
import type { ReasoningMember } from '../../../domain/chat/chat-model.js';
import type { JsonObject, JsonValue } from '../../../domain/chat/chat-request.js';
import { isArray, isObject } from '../../../domain/members.js';

/** The same object when nothing changes. A second text that differs stays under its own name. */
export function withReasoningAs(name: ReasoningMember, body: JsonObject): JsonObject {
  const other = name === 'reasoning' ? 'reasoning_content' : 'reasoning';
  const text = textOf(body[name]) ?? textOf(body[other]) ?? detailedText(body['reasoning_details']);
  if (text === null || (body[name] === text && body[other] !== text)) return body;
  const { [other]: replaced, ...rest } = body;
  return { ...(replaced === text ? rest : body), [name]: text };
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** Null: the details have no text. */
function detailedText(details: JsonValue | undefined): string | null {
  const texts = (isArray(details) ? details : []).flatMap((detail) => {
    const text = isObject(detail) && detail['type'] === 'reasoning.text' ? detail['text'] : null;
    return typeof text === 'string' ? [text] : [];
  });
  return texts.length === 0 ? null : texts.join('');
}
