// Pieces of the kernel's form that several wires write alike.
import { createHash } from 'node:crypto';
import type {
  ChatMessage,
  ChatPart,
  ChatTool,
  JsonObject,
  JsonValue,
} from '../../domain/chat/chat-request.js';
import { isObject } from '../../domain/members.js';
import { UnsupportedRequest } from './provider.js';

const PLAIN_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const NO_SCHEMA: JsonObject = { type: 'object', properties: {} };

export function partsOf(content: ChatMessage['content']): readonly ChatPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
}

/** Models without system messages in the middle read it as a marked text of the user. */
export function markedSystemText({ content }: ChatMessage): string {
  const texts = partsOf(content).flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return `<system>${texts.join('\n')}</system>`;
}

/** Arguments of a call for a wire that has an object in their place: their own text, with its digits. */
export function objectText(text: string, at: string): string {
  if (text.trim() === '') return '{}';
  try {
    if (isObject(JSON.parse(text))) return text;
  } catch {
    // Below.
  }
  throw new UnsupportedRequest(at, 'must be an object in JSON');
}

/** The function that a tool describes. */
export function describedFunction({ body }: ChatTool): {
  /** Null: none. */
  readonly description: string | null;
  readonly parameters: JsonValue | undefined;
  readonly isStrict: boolean;
} {
  const { description, parameters, strict } = isObject(body['function']) ? body['function'] : {};
  return {
    description: typeof description === 'string' ? description : null,
    parameters,
    isStrict: strict === true,
  };
}

/** The schema of a function's parameters. */
export function objectSchema(parameters: JsonValue | undefined): JsonObject {
  if (!isObject(parameters)) return NO_SCHEMA;
  const schema = parameters;
  return schema['type'] === undefined ? { type: 'object', ...schema } : schema;
}

/** For wires with a narrow alphabet: a pure function, so that a call and its result keep their common id. */
export function idFor(id: string): string {
  if (PLAIN_ID.test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('base64url').slice(0, 24)}`;
}
