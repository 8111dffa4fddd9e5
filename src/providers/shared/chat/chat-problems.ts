// The members of a request that an endpoint cannot honour (docs/contract.md#chat-request).
import { canonicalServiceTier, isStandardTier } from '../../../domain/chat/service-tier.js';
import { searchesWeb } from '../../../domain/chat/chat-model.js';
import type { ChatEndpoint } from '../../../domain/chat/chat-model.js';
import { forcesCall } from '../../../domain/chat/chat-request.js';
import type { ChatRequest, WebSearchTool } from '../../../domain/chat/chat-request.js';
import type { ChatProblem } from '../chat-wire.js';
import { editMember } from './chat-members.js';
import { isReasoningLost, reasoningEdit } from './chat-reasoning.js';
import type { SupportTraits } from './chat-traits.js';

const PDF = 'application/pdf';
const PDF_RULE = `must be the data of a PDF (file_data: "data:${PDF};base64,..."): the endpoint takes no other files`;

const DOCUMENT_RULE = 'must be a PDF or a plain text: the endpoint takes no other files';

const NO_SEARCH =
  'is not supported: the endpoint has no price for searches that its provider runs; use tools that the client runs';

/** The hard problems first. */
export function chatProblems(
  request: ChatRequest,
  endpoint: ChatEndpoint,
  traits: SupportTraits,
): readonly ChatProblem[] {
  return [...hardProblems(request, endpoint, traits), ...softProblems(request, endpoint, traits)];
}

/** Members that decide whether an answer is usable: an endpoint without them is passed over. */
export function hardProblems(
  request: ChatRequest,
  endpoint: ChatEndpoint,
  traits: SupportTraits,
): ChatProblem[] {
  const problems: ChatProblem[] = [];
  const reject = (at: string, rule: string): void => {
    problems.push({ at, rule, isHard: true });
  };
  const has = (parameter: string): boolean => supports(parameter, endpoint, traits);
  const { toolChoice, tools, responseFormat } = request;
  const takesTools = has('tools') && (traits.protocol !== undefined || takesToolsInChat(endpoint));
  if (tools.length > 0 && !takesTools) reject('tools', 'the endpoint takes no tools');
  if (tools.length > 0 && forcesCall(toolChoice) && !has('tool_choice'))
    reject('tool_choice', 'the endpoint cannot be forced to call a tool');
  const search = lostSearch(request.native, endpoint, traits.protocol);
  if (search?.isNeeded) reject(`tools[${search.index}].type`, NO_SEARCH);
  if (!takesFormat(request, has))
    reject('response_format', `the endpoint does not support ${responseFormat}`);
  // In the Messages wire it warms a cache. Clients of Chat cannot ask for it.
  if (request.maxOutputTokens === 0 && traits.protocol !== 'messages')
    reject('max_tokens', 'the endpoint makes at least one token');
  if (request.choiceCount > 1 && !has('n')) reject('n', 'the endpoint gives one choice only');
  if (request.wantsLogprobs && !has('logprobs'))
    reject('logprobs', 'the endpoint gives no log probabilities');
  if (!takesServiceTier(request, endpoint, traits))
    reject('service_tier', `the endpoint has no price for ${request.serviceTier}`);
  addMediaProblems(request, endpoint, traits, reject);
  return problems;
}

/** Members that are dropped. */
function softProblems(
  request: ChatRequest,
  endpoint: ChatEndpoint,
  traits: SupportTraits,
): readonly ChatProblem[] {
  const call = { request, endpoint, maxOutputTokens: request.maxOutputTokens };
  const dropped = [...request.members].flatMap(([name, value]) =>
    editMember(name, value, call, traits) === 'dropped' ? [name] : [],
  );
  if (isReasoningLost(reasoningEdit(call, traits))) dropped.push('reasoning');
  if (request.user !== null && traits.members['user'] === 'drop') dropped.push('user');
  dropped.push(...lostMembers(request.native));
  return droppedMembers(dropped);
}

export function droppedMembers(members: readonly string[]): readonly ChatProblem[] {
  return members.map((at) => ({ at, rule: 'the endpoint does not support it', isHard: false }));
}

/** Members of the client's own wire that other wires do not have. */
export function lostMembers(native: ChatRequest['native']): readonly string[] {
  return native === null ? [] : [...native.edits, ...searchEdits(native.webSearch), ...native.unshared];
}

/** Undefined: none is declared, or the endpoint gets it. `wire`: the endpoint's, in this call. */
export function lostSearch(
  native: ChatRequest['native'],
  endpoint: ChatEndpoint,
  wire: SupportTraits['protocol'],
): WebSearchTool | undefined {
  return native?.wire === wire && searchesWeb(endpoint) ? undefined : native?.webSearch;
}

export function searchEdits(search: WebSearchTool | undefined): readonly string[] {
  return search === undefined ? [] : [`tools.${search.type}`];
}

function supports(
  parameter: string,
  { supportedParameters, isReasoning }: ChatEndpoint,
  { lacks = [], reasoningModelsLack = [] }: SupportTraits,
): boolean {
  if (lacks.includes(parameter) || (isReasoning && reasoningModelsLack.includes(parameter))) return false;
  return supportedParameters.includes(parameter);
}

function takesToolsInChat({ toolsOnlyWithoutReasoning, reasoningEfforts }: ChatEndpoint): boolean {
  return toolsOnlyWithoutReasoning !== true || reasoningEfforts.includes('none');
}

function takesFormat(
  { responseFormat, wantsEnforcedSchema }: ChatRequest,
  has: (parameter: string) => boolean,
): boolean {
  switch (responseFormat) {
    case 'text':
      return true;
    case 'json_schema':
      return has('structured_outputs') || (!wantsEnforcedSchema && has('response_format'));
    case 'json_object':
      return has('response_format');
    default:
      // grammar, python
      return has(responseFormat);
  }
}

function takesServiceTier(
  { serviceTier }: ChatRequest,
  { prices }: ChatEndpoint,
  { members }: SupportTraits,
): boolean {
  if (serviceTier === null || isStandardTier(serviceTier)) return true;
  const name = canonicalServiceTier(serviceTier);
  const isSent = members['service_tier'] !== undefined && members['service_tier'] !== 'drop';
  return isSent && prices.some(({ serviceTiers = {} }) => Object.hasOwn(serviceTiers, name));
}

function addMediaProblems(
  { messages }: ChatRequest,
  { inputModalities, supportedParameters }: ChatEndpoint,
  { mediaUrls, files, protocol }: SupportTraits,
  reject: (at: string, rule: string) => void,
): void {
  const takesUrls =
    mediaUrls === 'sent' || (mediaUrls === 'listed' && supportedParameters.includes('image_url'));
  for (const [index, { content }] of messages.entries()) {
    if (content === null || typeof content === 'string') continue;
    for (const [position, part] of content.entries()) {
      if (part.type === 'text') continue;
      const at = `messages[${index}].content[${position}]`;
      if (part.type === 'unknown') {
        if (part.wire !== protocol) reject(at, `the endpoint takes no ${part.name}`);
        continue;
      }
      const isPdf = part.url === null && part.mediaType === PDF;
      const isDocument = isPdf || part.url !== null || part.mediaType === 'text/plain';
      if (part.type === 'file' && files === 'inline_pdf' && !isPdf) reject(at, PDF_RULE);
      else if (part.type === 'file' && files === 'documents' && !isDocument) reject(at, DOCUMENT_RULE);
      else if (!inputModalities.includes(part.type)) reject(at, `the endpoint takes no ${part.type}`);
      else if (part.url !== null && !takesUrls)
        reject(at, 'must be inline data (data:image/png;base64,...): the endpoint takes no addresses');
    }
  }
}
