// Makes a provider's chat wire of its traits.
import { canonicalServiceTier } from '../../../domain/chat/service-tier.js';
import type { ChatRequest, JsonObject } from '../../../domain/chat/chat-request.js';
import { operationUrl } from '../address.js';
import { assembledRequest, BodyAssembly } from '../body-assembly.js';
import type { ChatCall, ChatUpstreamRequest, ChatWire, SentPrompt } from '../chat-wire.js';
import { UnsupportedRequest } from '../provider.js';
import type { ProviderConnection } from '../provider.js';
import { bearer } from '../wire.js';
import { editedMembers, withholdsTools } from './chat-members.js';
import { editMessages, editTools } from './chat-messages.js';
import { chatProblems, hardProblems, lostMembers } from './chat-problems.js';
import { isReasoningLost, reasoningEdit } from './chat-reasoning.js';
import type { ChatTraits } from './chat-traits.js';

export function defineChatWire(traits: ChatTraits): ChatWire {
  const { readError, cancellation, finishReasons, readUsage, toolCallId, callSignatures } = traits;
  return {
    protocol: 'chat',
    buildRequest: (call, connection) => buildRequest(call, connection, traits),
    promptOf: (call) => promptOf(call, traits),
    problems: (request, endpoint) => chatProblems(request, endpoint, traits),
    readError,
    cancellation,
    ...(traits.contextHoldsOutput && { contextHoldsOutput: true as const }),
    ...(finishReasons && { finishReasons }),
    ...(readUsage && { readUsage }),
    ...(toolCallId && { toolCallId }),
    ...(callSignatures && { callSignatures }),
  };
}

function buildRequest(
  call: ChatCall,
  connection: ProviderConnection,
  traits: ChatTraits,
): ChatUpstreamRequest {
  const [problem] = hardProblems(call.request, call.endpoint, traits);
  if (problem) throw new UnsupportedRequest(problem.at, problem.rule);
  const { baseUrl, apiKey } = connection;
  const url = traits.url?.(connection, call.endpoint) ?? operationUrl(baseUrl, '/chat/completions');
  const body = new BodyAssembly();
  const { isStreamed, native } = call.request;
  for (const name of lostMembers(native)) body.edits.add(name);
  body.add('model', JSON.stringify(call.endpoint.upstreamModel));
  addMessages(body, call, traits);
  for (const [name, value] of editedMembers(call, traits, body.edits)) body.add(name, value);
  addUser(body, call.request, traits);
  addServiceTier(body, call, traits);
  addReasoning(body, call, traits);
  addOutputLimit(body, call, connection, traits);
  if (isStreamed) addStream(body, call, connection, traits);
  return assembledRequest(url, traits.headers?.(apiKey) ?? bearer(apiKey), body, isStreamed);
}

function addMessages(body: BodyAssembly, call: ChatCall, traits: ChatTraits): void {
  const { request } = call;
  body.add('messages', editedOrRaw('messages', editMessages(call, traits, body.edits), request));
  if (request.tools.length === 0 || withholdsTools(call, traits)) return;
  body.add('tools', editedOrRaw('tools', editTools(call, traits, body.edits), request));
}

function promptOf(call: Pick<ChatCall, 'request' | 'endpoint'>, traits: ChatTraits): SentPrompt {
  const { messages, tools } = call.request;
  const unrecorded = new Set<string>();
  return {
    messages: editMessages(call, traits, unrecorded) ?? messages.map(({ body }) => body),
    tools: editTools(call, traits, unrecorded) ?? tools.map(({ body }) => body),
  };
}

function editedOrRaw(
  name: 'messages' | 'tools',
  edited: readonly JsonObject[] | null,
  request: ChatRequest,
): Buffer | string {
  const raw = request.members.get(name);
  return edited === null && raw ? raw : JSON.stringify(edited ?? request[name].map((item) => item.body));
}

function addUser(body: BodyAssembly, { user }: ChatRequest, { members }: ChatTraits): void {
  if (user === null) return;
  if (members['user'] === 'drop') body.edits.add('user');
  else body.add('user', JSON.stringify(user));
}

/** The tiers that change nothing are not worth a record. A tier with a price of its own was checked before. */
function addServiceTier(body: BodyAssembly, { request, endpoint }: ChatCall, { members }: ChatTraits): void {
  const { serviceTier } = request;
  const rule = members['service_tier'] ?? 'drop';
  const isSent = rule === 'keep' || endpoint.supportedParameters.includes('service_tier');
  if (serviceTier === null || rule === 'drop' || !isSent) return;
  body.add('service_tier', JSON.stringify(canonicalServiceTier(serviceTier)));
}

function addReasoning(body: BodyAssembly, call: ChatCall, traits: ChatTraits): void {
  const edit = reasoningEdit(call, traits);
  if (isReasoningLost(edit)) body.edits.add('reasoning');
  if (edit === null || edit === 'dropped') return;
  if ('effort' in edit) body.add('reasoning_effort', JSON.stringify(edit.effort));
  else body.add('reasoning', JSON.stringify({ enabled: edit.isEnabled }));
}

function addOutputLimit(
  body: BodyAssembly,
  { endpoint, maxOutputTokens }: ChatCall,
  connection: ProviderConnection,
  traits: ChatTraits,
): void {
  if (maxOutputTokens === null) return;
  const name = endpoint.wire?.outputLimit ?? traits.outputLimit(endpoint, connection);
  body.add(name, String(maxOutputTokens));
}

function addStream(
  body: BodyAssembly,
  { endpoint }: ChatCall,
  connection: ProviderConnection,
  traits: ChatTraits,
): void {
  body.add('stream', 'true');
  if ((endpoint.wire?.streamUsage ?? traits.streamUsage(connection)) !== 'ask') return;
  body.add('stream_options', JSON.stringify({ include_usage: true, ...traits.streamOptions }));
}
