// The required members of the content of a chat, by the JSON schemas of OpenTelemetry's GenAI conventions. Further members
// are allowed there.
import { isOneOf } from '../providers/provider-stub.js';
import type { MemberCheck } from '../providers/provider-stub.js';
import { isObject, isString, listOf } from './json-checks.js';
import type { Attributes } from './otlp-validator.js';

const withMembers =
  (required: Readonly<Record<string, MemberCheck>>): MemberCheck =>
  (value) =>
    isObject(value) && Object.entries(required).every(([name, check]) => check(value[name]));

const isTool = withMembers({ type: isString, name: isString });

const ofType = (type: string, required: Readonly<Record<string, MemberCheck>>): MemberCheck =>
  withMembers({ type: isOneOf(type), ...required });
const isGiven: MemberCheck = (value) => value !== undefined;
const PARTS: readonly MemberCheck[] = [
  ofType('text', { content: isString }),
  ofType('reasoning', { content: isString }),
  ofType('tool_call', { name: isString }),
  ofType('tool_call_response', { response: isGiven }),
  ofType('uri', { modality: isString, uri: isString }),
];
const isPart: MemberCheck = (value) => PARTS.some((isOfType) => isOfType(value));
const MESSAGE = { role: isString, parts: listOf(isPart) };

const CONTENT: Readonly<Record<string, MemberCheck>> = {
  'gen_ai.system_instructions': listOf(isPart, 1),
  'gen_ai.input.messages': listOf(withMembers(MESSAGE), 1),
  'gen_ai.output.messages': listOf(withMembers({ ...MESSAGE, finish_reason: isString }), 1),
  'gen_ai.tool.definitions': listOf(isTool, 1),
};

/** Null: all content of the span has the form of the conventions, or it has none. */
export function contentProblem(attributes: Attributes): string | null {
  for (const [name, isValid] of Object.entries(CONTENT)) {
    const text = attributes.get(name);
    if (text !== undefined && !isValid(JSON.parse(String(text)))) return `${name}: not the published form`;
  }
  return null;
}
