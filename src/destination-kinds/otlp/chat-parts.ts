// The messages of a chat as the parts of OpenTelemetry's GenAI conventions.
import type { ChatChoice } from '../../domain/chat/chat-outcome.js';
import type { ChatContent, ContentMessage, ContentPart } from '../../domain/generations/chat-content.js';
import { argumentsOf, plainText } from '../shared/chat-forms.js';

type Part = Readonly<Record<string, unknown>>;

const SYSTEM_ROLES = new Set(['system', 'developer']);
const isSystem = ({ role }: ContentMessage): boolean => SYSTEM_ROLES.has(role);

/** The conversation without its system messages. */
export function inputParts({ messages }: ChatContent): readonly object[] {
  return messages.filter((message) => !isSystem(message)).map(messageParts);
}

/** The parts of the system messages, without messages around them. */
export function systemParts({ messages }: ChatContent): readonly Part[] {
  return messages.filter(isSystem).flatMap(({ content }) => contentParts(content));
}

export function outputParts({ choices }: ChatContent): readonly object[] {
  return choices.map((choice) => ({
    role: 'assistant',
    parts: answerParts(choice),
    ...(choice.finishReason === null ? {} : { finish_reason: choice.finishReason }),
  }));
}

function messageParts(message: ContentMessage): object {
  const { role, content, name, tool_call_id: answered, tool_calls: calls = [] } = message;
  const parts: readonly Part[] =
    answered === undefined
      ? [...contentParts(content), ...calls.map((call) => callPart({ id: call.id, ...call.function }))]
      : [{ type: 'tool_call_response', id: answered, result: plainText(content) }];
  return { role, parts, ...(name === undefined ? {} : { name }) };
}

function answerParts({ content, reasoning, refusal, toolCalls }: ChatChoice): readonly Part[] {
  const texts = [content, refusal].filter((text) => text !== null);
  return [
    ...(reasoning === null ? [] : [{ type: 'reasoning', content: reasoning }]),
    ...texts.map((text) => ({ type: 'text', content: text })),
    ...toolCalls.map(callPart),
  ];
}

function contentParts(content: ContentMessage['content']): readonly Part[] {
  if (content === null) return [];
  return typeof content === 'string' ? [{ type: 'text', content }] : content.map(partOf);
}

function partOf(part: ContentPart): Part {
  switch (part.type) {
    case 'text':
      return { type: 'text', content: part.text };
    case 'image_url':
      return { type: 'uri', modality: 'image', uri: part.image_url.url };
    case 'video_url':
      return { type: 'uri', modality: 'video', uri: part.video_url.url };
  }
}

function callPart(call: { readonly id: string; readonly name: string; readonly arguments: string }): Part {
  return { type: 'tool_call', id: call.id, name: call.name, arguments: argumentsOf(call.arguments) };
}
