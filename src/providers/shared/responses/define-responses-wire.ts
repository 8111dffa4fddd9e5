// OpenAI's Responses wire behind this service. Clients of the same wire pass with their bytes; requests of other clients are written
// from the kernel's form (docs/contract.md#responses-providers).
import type { CancellationBilling, ChatEndpoint } from '../../../domain/chat/chat-model.js';
import type { ChatRequest } from '../../../domain/chat/chat-request.js';
import { operationUrl } from '../address.js';
import { assembledRequest } from '../body-assembly.js';
import { chatProblems, droppedMembers, hardProblems } from '../chat/chat-problems.js';
import type { SupportTraits } from '../chat/chat-traits.js';
import type { ChatCall, ChatProblem, ChatUpstreamRequest, ChatWire } from '../chat-wire.js';
import { UnsupportedRequest } from '../provider.js';
import type { ProviderConnection } from '../provider.js';
import { readUpstreamError } from '../upstream-error.js';
import { bearer } from '../wire.js';
import { kernelBody } from './kernel-body.js';
import { lostInPassing, nativeBody } from './native-body.js';
import { responsesSupport } from './responses-members.js';

export interface ResponsesTraits {
  /** Absent: `/responses` below the base URL. */
  url?(connection: ProviderConnection): string;
  /** Absent: a bearer token. */
  headers?(apiKey: string | undefined): Readonly<Record<string, string>>;
  readonly cancellation: CancellationBilling;
  readonly mediaUrls: SupportTraits['mediaUrls'];
  /** Custom tools and namespaces pass, unless the catalogue says otherwise. */
  readonly customTools: boolean;
  /** Streams are padded against the analysis of packet sizes, which doubles their bytes, unless it is switched off. */
  readonly padsStreams: boolean;
  /** The least output limit; absent: 1. */
  readonly leastOutput?: number;
  /** The only members that pass; absent: all, since the server is a public API that checks them. */
  readonly members?: ReadonlySet<string>;
}

/** OpenAI's own, which Azure shares. */
export const OPENAI_RESPONSES = {
  // As in Chat's wire.
  cancellation: 'stops',
  mediaUrls: 'sent',
  customTools: true,
  padsStreams: false,
  leastOutput: 16,
} as const satisfies ResponsesTraits;

export function defineResponsesWire(traits: ResponsesTraits): ChatWire {
  const support = responsesSupport(traits.mediaUrls);
  const translates = (request: ChatRequest, endpoint: ChatEndpoint): boolean =>
    !passes(request, endpoint, traits);
  const problemsOf = (request: ChatRequest, endpoint: ChatEndpoint): readonly ChatProblem[] => {
    const own = ownProblems(request, traits);
    if (translates(request, endpoint)) return [...own, ...chatProblems(request, endpoint, support)];
    const lost = droppedMembers(lostInPassing(request, traits));
    return [...own, ...hardProblems(request, endpoint, support), ...lost];
  };
  return {
    protocol: 'responses',
    buildRequest: (call, connection) => {
      const problem = problemsOf(call.request, call.endpoint).find(({ isHard }) => isHard);
      if (problem) throw new UnsupportedRequest(problem.at, problem.rule);
      return buildRequest(call, connection, traits, support);
    },
    problems: problemsOf,
    translates,
    readError: readUpstreamError,
    cancellation: traits.cancellation,
  };
}

function buildRequest(
  call: ChatCall,
  connection: ProviderConnection,
  traits: ResponsesTraits,
  support: SupportTraits,
): ChatUpstreamRequest {
  const { request, endpoint } = call;
  const { baseUrl, apiKey } = connection;
  const url = traits.url?.(connection) ?? operationUrl(baseUrl, '/responses');
  const body = passes(request, endpoint, traits) ? nativeBody(call, traits) : kernelBody(call, support);
  if (request.isStreamed && traits.padsStreams) body.add('stream_options', '{"include_obfuscation":false}');
  return assembledRequest(url, traits.headers?.(apiKey) ?? bearer(apiKey), body, request.isStreamed);
}

/** The client's bytes pass: it speaks the wire, and the endpoint takes all that they say. */
function passes({ native }: ChatRequest, { wire }: ChatEndpoint, { customTools }: ResponsesTraits): boolean {
  if (native?.wire !== 'responses' || native.responses === undefined) return false;
  const { hasCustomTools, hasOwnSettings } = native.responses;
  return !hasOwnSettings && (!hasCustomTools || (wire?.customTools ?? customTools));
}

function ownProblems(request: ChatRequest, { leastOutput = 1 }: ResponsesTraits): ChatProblem[] {
  const { maxOutputTokens: limit, members, messages, native } = request;
  const problems: ChatProblem[] = [];
  const reject = (at: string, rule: string): void => void problems.push({ at, rule, isHard: true });
  const isOwn = native?.wire === 'responses';
  if (limit !== null && limit > 0 && limit < leastOutput)
    reject(isOwn ? 'max_output_tokens' : 'max_tokens', `must be at least ${leastOutput} at the endpoint`);
  if (isOwn) return problems;
  if (members.has('stop')) reject('stop', 'the endpoint has no stop sequences');
  const last = messages.at(-1);
  if (last?.role === 'assistant' && last.toolCalls.length === 0)
    reject(`messages[${messages.length - 1}].role`, "the endpoint does not continue an assistant's message");
  return problems;
}
