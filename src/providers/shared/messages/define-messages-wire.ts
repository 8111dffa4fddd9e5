// Anthropic's Messages wire behind this service. Clients of the same wire pass with their bytes; requests of other clients are
// written from the kernel's form (docs/contract.md#messages-providers).
import { searchesWeb } from '../../../domain/chat/chat-model.js';
import type { CancellationBilling, ChatEndpoint } from '../../../domain/chat/chat-model.js';
import { forcesCall } from '../../../domain/chat/chat-request.js';
import type { ChatRequest, JsonObject, NativeRequest } from '../../../domain/chat/chat-request.js';
import { isObject } from '../../../domain/members.js';
import { operationUrl, withoutVersion } from '../address.js';
import { assembledRequest, authorizedRequest, BodyAssembly } from '../body-assembly.js';
import { editedMembers } from '../chat/chat-members.js';
import {
  chatProblems,
  droppedMembers,
  hardProblems,
  lostSearch,
  searchEdits,
} from '../chat/chat-problems.js';
import type { ChatCall, ChatProblem, ChatUpstreamRequest, ChatWire, TokenCounter } from '../chat-wire.js';
import { UnsupportedRequest } from '../provider.js';
import type { ProviderConnection, UpstreamRequest, UpstreamResponse } from '../provider.js';
import { readUpstreamError } from '../upstream-error.js';
import { parseErrorBody } from '../wire.js';
import { MESSAGES_SUPPORT } from './messages-members.js';
import { promptInMessages } from './messages-turns.js';
import { HostedBody } from './hosted-body.js';
import type { HostedForm } from './hosted-body.js';
import { addNativeMembers } from './native-body.js';
import { thinkingEdit, thinks } from './thinking.js';

/** Of translated requests. */
/** Of Anthropic's API. */
export const API_VERSION = '2023-06-01';

export interface MessagesTraits {
  /** The header of the key; absent: as `host` has it. */
  headers?(apiKey: string | undefined): Readonly<Record<string, string>>;
  readonly cancellation: CancellationBilling;
  /** Absent: the wire's own address and errors. */
  readonly host?: MessagesHost;
}

/** A cloud that serves the wire at addresses of its own. */
export interface MessagesHost extends HostedForm, Pick<ChatWire, 'readError' | 'frames'> {
  /** Below the base URL. */
  path(call: ChatCall, connection: ProviderConnection): string;
  /** Absent: prompts are counted here. */
  readonly counter?: HostedCounter;
  authorize(
    request: UpstreamRequest,
    connection: ProviderConnection,
  ): UpstreamRequest | Promise<UpstreamRequest>;
}

/** Counts at a cloud. */
export interface HostedCounter extends Pick<HostedForm, 'inAddress'> {
  /** Null: the endpoint cannot count. */
  path(call: ChatCall, connection: ProviderConnection): string | null;
  /** The body of a call that is counted; absent: the body of the wire. */
  wrap?(body: BodyAssembly, call: ChatCall): BodyAssembly;
  /** Absent: as the wire has it. */
  readonly readCount?: TokenCounter['readCount'];
}

export function defineMessagesWire(traits: MessagesTraits): ChatWire {
  return {
    protocol: 'messages',
    buildRequest: (call, connection) => {
      const problem = problemsOf(call.request, call.endpoint).find(({ isHard }) => isHard);
      if (problem) throw new UnsupportedRequest(problem.at, problem.rule);
      const { host } = traits;
      const { endpoint, request } = call;
      const body = host ? new HostedBody(endpoint, host, request.native) : new BodyAssembly();
      if (request.native?.wire === 'messages') addNativeMembers(body, call, request.native);
      else addKernelMembers(body, call);
      return host && body instanceof HostedBody
        ? hostedRequest(host, host.path(call, connection), body.headers, body, connection)
        : requestTo('/v1/messages', body, call, connection, traits);
    },
    problems: problemsOf,
    readError: traits.host?.readError ?? readUpstreamError,
    cancellation: traits.cancellation,
    hidesReasoning,
    ...(traits.host?.frames && { frames: traits.host.frames }),
    ...((!traits.host || traits.host.counter) && { counter: counterOf(traits) }),
  };
}

function counterOf(traits: MessagesTraits): TokenCounter {
  const { host } = traits;
  return {
    buildRequest: (call, connection) => {
      const { native } = call.request;
      if (native?.wire !== 'messages') return null;
      if (host?.counter) return hostedCount(host, host.counter, call, native, connection);
      const body = new BodyAssembly();
      addNativeMembers(body, call, native, false);
      return requestTo('/v1/messages/count_tokens', body, call, connection, traits);
    },
    readCount: host?.counter?.readCount ?? readCount,
  };
}

function hostedCount(
  host: MessagesHost,
  counter: HostedCounter,
  call: ChatCall,
  native: NativeRequest,
  connection: ProviderConnection,
): Promise<ChatUpstreamRequest> | null {
  const path = counter.path(call, connection);
  if (path === null) return null;
  const { inAddress } = counter;
  const body = new HostedBody(call.endpoint, { ...host, inAddress }, native);
  addNativeMembers(body, call, native, false);
  return hostedRequest(host, path, body.headers, counter.wrap?.(body, call) ?? body, connection);
}

function hostedRequest(
  host: MessagesHost,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: BodyAssembly,
  connection: ProviderConnection,
): Promise<ChatUpstreamRequest> {
  const url = operationUrl(connection.baseUrl, path);
  return authorizedRequest(url, headers, body, (request) => host.authorize(request, connection));
}

function requestTo(
  path: string,
  body: BodyAssembly,
  { request }: ChatCall,
  { baseUrl, apiKey }: ProviderConnection,
  traits: MessagesTraits,
): ChatUpstreamRequest {
  const headers = {
    'anthropic-version': API_VERSION,
    ...(request.native?.wire === 'messages' ? request.native.headers : {}),
    ...traits.headers?.(apiKey),
  };
  return assembledRequest(operationUrl(withoutVersion(baseUrl), path), headers, body, request.isStreamed);
}

function problemsOf(request: ChatRequest, endpoint: ChatEndpoint): readonly ChatProblem[] {
  const problems =
    request.native?.wire === 'messages'
      ? hardProblems(request, endpoint, MESSAGES_SUPPORT)
      : chatProblems(request, endpoint, MESSAGES_SUPPORT);
  const search = lostSearch(request.native, endpoint, 'messages');
  const lost = droppedMembers([...(request.native?.edits ?? []), ...searchEdits(search)]);
  return [...forcingProblem(request, endpoint), ...problems, ...lost];
}

/** A model that thinks cannot be forced to call a tool. */
function forcingProblem(request: ChatRequest, endpoint: ChatEndpoint): ChatProblem[] {
  const { toolChoice, tools } = request;
  if (!forcesCall(toolChoice) || tools.length === 0 || !thinks(request, endpoint)) return [];
  const rule =
    'a model that thinks cannot be forced to call a tool: leave the choice to it, or switch thinking off';
  return [{ at: 'tool_choice', rule, isHard: true }];
}

/** Thoughts are billed, and come only as a summary; the prompts of searches are in the last usage alone. */
function hidesReasoning(request: ChatRequest, endpoint: ChatEndpoint): boolean {
  const { native, reasoning } = request;
  if (native?.wire !== 'messages') return thinks(request, endpoint) && reasoning?.isExcluded === true;
  if (native.webSearch !== undefined && searchesWeb(endpoint)) return true;
  if (endpoint.wire?.thinking === undefined) return false;
  const thinking: unknown = JSON.parse(native.members.get('thinking')?.toString() ?? 'null');
  return isObject(thinking) && thinking['type'] !== 'disabled' && thinking['display'] !== 'summarized';
}

function addKernelMembers(body: BodyAssembly, call: ChatCall): void {
  const { request, endpoint } = call;
  const maxTokens = call.maxOutputTokens ?? endpoint.maxOutputTokens ?? endpoint.contextLength;
  body.add('model', JSON.stringify(endpoint.upstreamModel));
  body.add('max_tokens', String(maxTokens));
  const { system, messages, tools } = promptInMessages(request.messages, request.tools, body.edits);
  if (system !== null) body.add('system', system);
  body.add('messages', messages);
  if (tools !== null) {
    body.add('tools', tools);
    addToolChoice(body, request);
  }
  for (const [name, value] of editedMembers(call, MESSAGES_SUPPORT, body.edits)) body.add(name, value);
  addThinking(body, call, maxTokens);
  if (request.user !== null) body.add('metadata', JSON.stringify({ user_id: request.user }));
  if (request.isStreamed) body.add('stream', 'true');
}

function addThinking(body: BodyAssembly, call: ChatCall, maxTokens: number): void {
  const { thinking, effort, isWeaker } = thinkingEdit(call, maxTokens);
  if (isWeaker) body.edits.add('reasoning');
  if (thinking !== null) body.add('thinking', JSON.stringify(thinking));
  const output = outputInMessages(call.request, effort);
  if (output !== null) body.add('output_config', JSON.stringify(output));
}

/** Null: the default. */
export function outputInMessages(
  { responseFormat, responseSchema }: Pick<ChatRequest, 'responseFormat' | 'responseSchema'>,
  effort: string | null,
): JsonObject | null {
  const described = isObject(responseSchema) ? responseSchema['schema'] : null;
  const schema = isObject(described) ? described : { type: 'object' };
  const output = {
    ...(effort !== null && { effort }),
    ...(responseFormat === 'json_schema' && { format: { type: 'json_schema', schema } }),
  };
  return Object.keys(output).length === 0 ? null : output;
}

function addToolChoice(body: BodyAssembly, { toolChoice, members }: ChatRequest): void {
  const isSequential = members.get('parallel_tool_calls')?.toString() === 'false';
  const choice = choiceInMessages(toolChoice, isSequential);
  if (choice !== null) body.add('tool_choice', JSON.stringify(choice));
}

/** Null: the default. */
export function choiceInMessages(
  toolChoice: ChatRequest['toolChoice'],
  isSequential: boolean,
): JsonObject | null {
  if (toolChoice === null && !isSequential) return null;
  const choice = toolChoice ?? { mode: 'auto' as const };
  const named =
    'mode' in choice
      ? { type: choice.mode === 'required' ? 'any' : choice.mode }
      : { type: 'tool', name: choice.functionName };
  const single = isSequential && named.type !== 'none' ? { disable_parallel_tool_use: true } : {};
  return { ...named, ...single };
}

function readCount(response: UpstreamResponse): number | null {
  const { input_tokens: count } = parseErrorBody(response);
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : null;
}
