// Reads tools, the choice of a tool, and the format of the answer (docs/contract.md#chat-request).
import type { ChatRequest, ChatTool, JsonObject } from '../../domain/chat/chat-request.js';
import { rejectMember } from '../../domain/errors.js';
import { isGiven, isObject } from '../../domain/members.js';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const NAME_RULE = 'must have 1 to 64 letters, digits, _ and -';
const MAX_TOOLS = 1_000;
const FORMATS = ['text', 'json_object', 'json_schema', 'grammar', 'python'];
const MODES: Readonly<Record<string, 'none' | 'auto' | 'required'>> = {
  none: 'none',
  auto: 'auto',
  required: 'required',
  any: 'required',
};

export const TOOLS_SCHEMA = {
  type: 'array',
  items: {
    type: 'object',
    required: ['type', 'function'],
    properties: {
      type: { type: 'string', enum: ['function'] },
      function: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', pattern: NAME.source },
          description: { type: 'string' },
          parameters: { type: 'object', additionalProperties: true },
          strict: { type: 'boolean', nullable: true },
        },
      },
    },
  },
};

export function readTools(value: unknown): ChatTool[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return rejectMember('tools', 'must be an array');
  if (value.length > MAX_TOOLS) rejectMember('tools', `must have at most ${MAX_TOOLS} elements`);
  return value.map((tool, index) => readTool(tool, `tools[${index}]`));
}

function readTool(sent: unknown, path: string): ChatTool {
  if (!isObject(sent)) return rejectMember(path, 'must be an object');
  if (sent['type'] !== 'function')
    rejectMember(`${path}.type`, 'must be function: server tools are not supported');
  const tool = nestedTool(sent);
  const { function: described } = tool;
  if (!isObject(described)) return rejectMember(`${path}.function`, 'must be an object');
  const { name, description, parameters, strict } = described;
  if (typeof name !== 'string' || !NAME.test(name)) return rejectMember(`${path}.function.name`, NAME_RULE);
  if (isGiven(description) && typeof description !== 'string')
    rejectMember(`${path}.function.description`, 'must be a string');
  if (isGiven(parameters) && !isObject(parameters))
    rejectMember(`${path}.function.parameters`, 'must be an object');
  if (isGiven(strict) && typeof strict !== 'boolean')
    rejectMember(`${path}.function.strict`, 'must be a boolean');
  return { name, body: tool as JsonObject };
}

/** Some editors send tools in the form of the Responses wire. */
function nestedTool(tool: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { type, function: described, ...members } = tool;
  return described === undefined && members['name'] !== undefined ? { type, function: members } : tool;
}

export function readToolChoice(value: unknown, tools: readonly ChatTool[]): ChatRequest['toolChoice'] {
  if (value === undefined) return null;
  const choice = readChoice(value);
  // Without tools it goes to no provider.
  if (tools.length === 0) return null;
  if ('functionName' in choice && !tools.some(({ name }) => name === choice.functionName))
    rejectMember('tool_choice.function.name', 'must be the name of one of the tools');
  return choice;
}

function readChoice(value: unknown): NonNullable<ChatRequest['toolChoice']> {
  if (typeof value === 'string') {
    const mode = Object.hasOwn(MODES, value) ? MODES[value] : undefined;
    return mode === undefined ? rejectToolChoice() : { mode };
  }
  const described = isObject(value) && value['type'] === 'function' ? (value['function'] ?? value) : null;
  const name = isObject(described) ? described['name'] : null;
  return typeof name === 'string' ? { functionName: name } : rejectToolChoice();
}

function rejectToolChoice(): never {
  return rejectMember('tool_choice', 'must be none, auto, required, or {type: "function", function: {name}}');
}

export function readResponseFormat(value: unknown): Pick<ChatRequest, 'responseFormat' | 'responseSchema'> {
  if (value === undefined) return { responseFormat: 'text', responseSchema: null };
  const type = isObject(value) ? value['type'] : null;
  if (typeof type !== 'string' || !FORMATS.includes(type))
    return rejectMember('response_format.type', `must be one of ${FORMATS.join(', ')}`);
  if (type !== 'json_schema') return { responseFormat: type, responseSchema: value as JsonObject };
  const described = (value as JsonObject)['json_schema'];
  if (!isObject(described)) return rejectMember('response_format.json_schema', 'must be an object');
  const { name, strict, schema } = described;
  if (typeof name !== 'string' || !NAME.test(name))
    rejectMember('response_format.json_schema.name', NAME_RULE);
  if (isGiven(strict) && typeof strict !== 'boolean')
    rejectMember('response_format.json_schema.strict', 'must be a boolean');
  if (isGiven(schema) && !isObject(schema))
    rejectMember('response_format.json_schema.schema', 'must be an object');
  return { responseFormat: type, responseSchema: described };
}
