// Reads the messages of a chat call (docs/contract.md#chat-messages). Unknown members of a message stay: the wire of a provider
// knows which ones it takes, signatures of thoughts among them.
import type { ChatMessage, ChatPart, ChatToolCall, JsonObject } from '../../domain/chat/chat-request.js';
import { rejectMember } from '../../domain/errors.js';
import { isObject } from '../../domain/members.js';
import { readPart } from './chat-parts.js';

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
const TEXT_ONLY: ReadonlySet<string> = new Set(['system', 'developer']);
const PART_SCHEMA = { type: 'object', required: ['type'], properties: { type: { type: 'string' } } };

export const MESSAGES_SCHEMA = {
  type: 'array',
  minItems: 1,
  items: {
    type: 'object',
    required: ['role'],
    properties: {
      role: { type: 'string', enum: [...ROLES] },
      content: {
        nullable: true,
        oneOf: [{ type: 'string' }, { type: 'array', items: PART_SCHEMA }],
      },
      name: { type: 'string' },
      tool_calls: { type: 'array', items: { type: 'object' } },
      tool_call_id: { type: 'string' },
    },
  },
};

/** Throws `invalid_request` that names the message at fault. */
export function readMessages(value: unknown): ChatMessage[] {
  if (value === undefined) return rejectMember('messages', 'is required');
  if (!Array.isArray(value)) return rejectMember('messages', 'must be an array');
  if (value.length === 0) rejectMember('messages', 'must have at least 1 element');
  return value.map((message, index) => readMessage(message, `messages[${index}]`));
}

function readMessage(message: unknown, path: string): ChatMessage {
  if (!isObject(message)) return rejectMember(path, 'must be an object');
  const role = ROLES.find((known) => known === message['role']);
  if (role === undefined) return rejectMember(`${path}.role`, `must be one of ${ROLES.join(', ')}`);
  const toolCalls = role === 'assistant' ? readToolCalls(message['tool_calls'], `${path}.tool_calls`) : [];
  return {
    role,
    content: readContent(message['content'], role, `${path}.content`),
    toolCalls,
    toolCallId: role === 'tool' ? requireText(message['tool_call_id'], `${path}.tool_call_id`) : null,
    name: optionalText(message['name'], `${path}.name`),
    body: message as JsonObject,
  };
}

function readContent(
  content: unknown,
  role: ChatMessage['role'],
  path: string,
): string | readonly ChatPart[] | null {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) {
    const parts = content.map((part, index) => readPart(part, role, `${path}[${index}]`));
    const media = TEXT_ONLY.has(role) ? parts.findIndex(({ type }) => type !== 'text') : -1;
    return media === -1 ? parts : rejectMember(`${path}[${media}].type`, 'must be text in this role');
  }
  if (role === 'assistant' && (content === null || content === undefined)) return null;
  return rejectMember(path, content === undefined ? 'is required' : 'must be a string or an array of parts');
}

function readToolCalls(value: unknown, path: string): ChatToolCall[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return rejectMember(path, 'must be an array');
  return value.map((call, index) => readToolCall(call, `${path}[${index}]`));
}

function readToolCall(call: unknown, path: string): ChatToolCall {
  if (!isObject(call)) return rejectMember(path, 'must be an object');
  const { id, type, function: called } = call;
  if (type !== undefined && type !== 'function') rejectMember(`${path}.type`, 'must be function');
  if (!isObject(called)) return rejectMember(`${path}.function`, 'must be an object');
  const { name, arguments: text } = called;
  return {
    id: requireText(id, `${path}.id`),
    name: requireText(name, `${path}.function.name`),
    arguments: requireText(text, `${path}.function.arguments`),
  };
}

function requireText(value: unknown, path: string): string {
  return typeof value === 'string'
    ? value
    : rejectMember(path, value === undefined ? 'is required' : 'must be a string');
}

function optionalText(value: unknown, path: string): string | null {
  return value === undefined || value === null ? null : requireText(value, path);
}
