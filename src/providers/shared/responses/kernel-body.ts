// The kernel's form of a call as a body of the Responses wire (docs/contract.md#responses-providers).
import type { ChatRequest, ChatTool, JsonObject, JsonValue } from '../../../domain/chat/chat-request.js';
import { canonicalServiceTier } from '../../../domain/chat/service-tier.js';
import { isObject } from '../../../domain/members.js';
import { BodyAssembly } from '../body-assembly.js';
import { editedMembers } from '../chat/chat-members.js';
import { lostMembers } from '../chat/chat-problems.js';
import { isReasoningLost, reasoningEdit } from '../chat/chat-reasoning.js';
import type { SupportTraits } from '../chat/chat-traits.js';
import type { ChatCall } from '../chat-wire.js';
import { describedFunction } from '../kernel-parts.js';
import { promptInItems } from './input-items.js';

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} };

export function kernelBody(call: ChatCall, support: SupportTraits): BodyAssembly {
  const { request, endpoint, maxOutputTokens } = call;
  const body = new BodyAssembly();
  for (const name of lostMembers(request.native)) body.edits.add(name);
  body.add('model', JSON.stringify(endpoint.upstreamModel));
  const { instructions, input } = promptInItems(request.messages, body.edits);
  if (instructions !== null) body.add('instructions', JSON.stringify(instructions));
  body.add('input', JSON.stringify(input));
  if (request.tools.length > 0) {
    body.add('tools', JSON.stringify(request.tools.map(flatTool)));
    if (request.toolChoice !== null) body.add('tool_choice', JSON.stringify(flatChoice(request.toolChoice)));
  }
  for (const [name, value] of editedMembers(call, support, body.edits)) body.add(name, value);
  addText(body, call);
  addReasoning(body, call, support);
  if (request.user !== null) body.add('user', JSON.stringify(request.user));
  if (request.serviceTier !== null)
    body.add('service_tier', JSON.stringify(canonicalServiceTier(request.serviceTier)));
  if (maxOutputTokens !== null) body.add('max_output_tokens', String(maxOutputTokens));
  body.add('store', 'false');
  if (request.isStreamed) body.add('stream', 'true');
  return body;
}

/** Without `strict: false` the wire makes every schema a strict one. */
export function flatTool(tool: ChatTool): JsonObject {
  const { description, parameters, isStrict } = describedFunction(tool);
  return {
    type: 'function',
    name: tool.name,
    ...(description !== null && { description }),
    parameters: isObject(parameters) ? parameters : NO_PARAMETERS,
    strict: isStrict,
  };
}

export function flatChoice(choice: NonNullable<ChatRequest['toolChoice']>): JsonValue {
  return 'mode' in choice ? choice.mode : { type: 'function', name: choice.functionName };
}

function addText(body: BodyAssembly, { request, endpoint }: ChatCall): void {
  const { members } = request;
  const bytes = endpoint.supportedParameters.includes('verbosity') ? members.get('verbosity') : undefined;
  const verbosity = bytes && (JSON.parse(bytes.toString()) as JsonValue);
  const text = textInResponses(request, verbosity);
  if (text !== null) body.add('text', JSON.stringify(text));
}

/** Null: the default. */
export function textInResponses(
  { responseFormat, responseSchema }: Pick<ChatRequest, 'responseFormat' | 'responseSchema'>,
  verbosity: JsonValue | undefined,
): JsonObject | null {
  const described = isObject(responseSchema) ? responseSchema : {};
  const text = {
    ...(responseFormat !== 'text' && { format: { type: responseFormat, ...described } }),
    ...(verbosity !== undefined && { verbosity }),
  };
  return Object.keys(text).length === 0 ? null : text;
}

/** Reasoning comes back with the history: its encrypted form is asked for whenever the model may reason. */
function addReasoning(body: BodyAssembly, call: ChatCall, support: SupportTraits): void {
  const { request, endpoint } = call;
  const edit = reasoningEdit(call, support);
  if (isReasoningLost(edit)) body.edits.add('reasoning');
  const effort = edit !== null && edit !== 'dropped' && 'effort' in edit ? edit.effort : null;
  const isShown = request.reasoning !== null && !request.reasoning.isExcluded && effort !== 'none';
  const settings = {
    ...(effort !== null && { effort }),
    ...(isShown && endpoint.isReasoning && { summary: 'auto' }),
  };
  if (Object.keys(settings).length > 0) body.add('reasoning', JSON.stringify(settings));
  if (endpoint.isReasoning) body.add('include', '["reasoning.encrypted_content"]');
}
