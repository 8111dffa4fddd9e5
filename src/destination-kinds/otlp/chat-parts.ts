// The messages of a chat as the parts of OpenTelemetry's GenAI conventions.
import type { ChatChoice } from '../../domain/chat/chat-outcome.js';
import type { ChatContent, ContentMessage, ContentPart } from '../../domain/generations/chat-content.js';
import { argumentsOf, functionsOf, plainText } from '../shared/chat-forms.js';

type Part = Readonly<Record<string, unknown>>;

const SYSTEM_ROLES = new Set(['system', 'developer']);
const isSystem = ({ role }: ContentMessage): boolean => SYSTEM_ROLES.has(role);

/** The conversation without its system messages. */
export function inputParts({ messages }: ChatContent): readonly object[] {
  return conversationParts(messages, ['response']);
}

/** With the results of tools under their older name as well. */
export function olderInputParts({ messages }: ChatContent): readonly object[] {
  return conversationParts(messages, ['response', 'result']);
}

/** The parts of the system messages, without messages around them. */
export function systemParts({ messages }: ChatContent): readonly Part[] {
  return messages.filter(isSystem).flatMap(({ content }) => contentParts(content));
}

/** The conventions require a reason: `unfinished` stands for that of an answer without one. */
export function outputParts({ choices }: ChatContent, unfinished: string): readonly object[] {
  return choices.map((choice) => ({
    role: 'assistant',
    parts: answerParts(choice),
    finish_reason: choice.finishReason ?? unfinished,
  }));
}

/** The definitions of tools, whose members stand at the top. */
export function toolParts({ tools }: ChatContent): readonly Part[] {
  return functionsOf(tools).map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters,
  }));
}

/** `resultNames`: the members that have the result of a tool. */
function conversationParts(
  messages: readonly ContentMessage[],
  resultNames: readonly string[],
): readonly object[] {
  return messages
    .filter((message) => !isSystem(message))
    .map((message) => messageParts(message, resultNames));
}

function messageParts(message: ContentMessage, resultNames: readonly string[]): object {
  const { role, content, name, tool_call_id: answered, tool_calls: calls = [] } = message;
  const parts: readonly Part[] =
    answered === undefined
      ? [...contentParts(content), ...calls.map((call) => callPart({ id: call.id, ...call.function }))]
      : [resultPart(answered, plainText(content), resultNames)];
  return { role, parts, ...(name === undefined ? {} : { name }) };
}

function resultPart(id: string, result: string, names: readonly string[]): Part {
  return { type: 'tool_call_response', id, ...Object.fromEntries(names.map((name) => [name, result])) };
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
