// Messages of the kernel, for readers of other wires than Chat: the kernel has Chat's form.
import type { ChatMessage, ChatPart, JsonObject } from '../../domain/chat/chat-request.js';
import { GEMINI_FORMAT } from '../../domain/chat/reasoning-producer.js';
import { rejectMember } from '../../domain/errors.js';

export interface ReadPart {
  readonly part: ChatPart;
  /** In Chat's form; a text in brackets for what Chat does not have. */
  readonly body: JsonObject;
}

export function kernelMessage(
  role: ChatMessage['role'],
  read: readonly ReadPart[],
  members: JsonObject,
): ChatMessage {
  const parts: readonly ChatPart[] = read.map(({ part }) => part);
  const [first] = read;
  const isPlain =
    read.length === 1 && first?.part.type === 'text' && first.body['cache_control'] === undefined;
  const content = isPlain && first.part.type === 'text' ? first.part.text : parts;
  const body: JsonObject = {
    role,
    content: isPlain && typeof content === 'string' ? content : read.map((each) => each.body),
    ...members,
  };
  return { role, content, toolCalls: [], toolCallId: null, name: null, body };
}

/** A result is a text in the kernel: its media are for a turn of the user, marked with their call. */
export function toolResult(
  id: string,
  read: readonly ReadPart[],
  { isError = false, mark = {} }: { readonly isError?: boolean; readonly mark?: JsonObject } = {},
): { readonly result: ChatMessage; readonly media: readonly ReadPart[] } {
  const texts = read.filter(({ part }) => part.type === 'text' || part.type === 'unknown');
  const media = read.filter((each) => !texts.includes(each));
  const text = texts.map(({ body }) => body['text'] as string).join('\n');
  const shown = isError && !text.startsWith('Error: ') ? `Error: ${text}` : text;
  const body = { role: 'tool', tool_call_id: id, content: shown, ...mark };
  const label = { type: 'text', text: `[of the tool result ${id}]` } as const;
  return {
    result: { role: 'tool', content: shown, toolCalls: [], toolCallId: id, name: null, body },
    media: media.length === 0 ? [] : [{ part: label, body: label }, ...media],
  };
}

/** Gemini's signature of a call comes as an encrypted thought before it, and goes back with it. `from`: details since the last call. */
export function bindToCall(details: JsonObject[], from: number, callId: string): void {
  const last = details.at(-1);
  const isOfCall = last?.['type'] === 'reasoning.encrypted' && last['format'] === GEMINI_FORMAT;
  if (isOfCall && details.length > from) details.splice(-1, 1, { ...last, id: callId });
}

export function textIn(block: JsonObject, name: string, at: string): string {
  const value = block[name];
  return typeof value === 'string'
    ? value
    : rejectMember(`${at}.${name}`, value === undefined ? 'is required' : 'must be a string');
}

interface EncryptedThought {
  readonly format: string;
  readonly index: number;
  /** Its summary; empty: none. */
  readonly text: string;
  readonly data: string;
  /** Of its item. */
  readonly id?: string;
}

/** As entries of `reasoning_details`. */
export function encryptedThought({ format, index, text, data, id }: EncryptedThought): JsonObject[] {
  const summary = { type: 'reasoning.summary', format, index, summary: text };
  const encrypted = { type: 'reasoning.encrypted', format, index, ...(id !== undefined && { id }), data };
  return text === '' ? [encrypted] : [summary, encrypted];
}
