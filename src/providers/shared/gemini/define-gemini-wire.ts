// Google's generateContent wire behind this service, for the Gemini API and for Vertex: they differ in addresses and credentials
// (docs/contract.md#gemini-providers).
import type { ChatEndpoint } from '../../../domain/chat/chat-model.js';
import type { ChatRequest } from '../../../domain/chat/chat-request.js';
import { assembledRequest, BodyAssembly } from '../body-assembly.js';
import { chatProblems, hardProblems, lostMembers } from '../chat/chat-problems.js';
import type { ChatCall, ChatProblem, ChatUpstreamRequest, ChatWire } from '../chat-wire.js';
import { REASONING_DETAILS, THINKING } from '../turns/earlier-thoughts.js';
import { UnsupportedRequest } from '../provider.js';
import type { ProviderConnection, UpstreamResponse } from '../provider.js';
import { parseErrorBody, tokenCount } from '../wire.js';
import { GEMINI_SUPPORT, generationConfig } from './generation-config.js';
import { geminiToolConfig, geminiTools } from './gemini-tools.js';
import { promptForGemini } from './gemini-turns.js';
import { readGoogleError } from './google-errors.js';

export type GeminiOperation = 'generateContent' | 'streamGenerateContent' | 'countTokens';

export interface GeminiTraits {
  /** Without the query of streams. */
  url(connection: ProviderConnection, upstreamModel: string, operation: GeminiOperation): string;
  headers(connection: ProviderConnection): Readonly<Record<string, string>>;
  /** A count has its prompt in a whole request, which names its model again. */
  readonly countsRequests?: true;
}

/** Google's words beside those of other wires. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  language: 'content_filter',
  image_safety: 'content_filter',
  image_prohibited_content: 'content_filter',
  image_recitation: 'content_filter',
  image_other: 'content_filter',
  no_image: 'stop',
  too_many_tool_calls: 'error',
  continuation: 'stop',
  other: 'stop',
  finish_reason_unspecified: 'stop',
};

export function defineGeminiWire(traits: GeminiTraits): ChatWire {
  return {
    protocol: 'gemini',
    buildRequest: (call, connection) => {
      const [problem] = hardProblems(call.request, call.endpoint, GEMINI_SUPPORT);
      if (problem) throw new UnsupportedRequest(problem.at, problem.rule);
      const { isStreamed, native } = call.request;
      const body = new BodyAssembly();
      for (const name of lostMembers(native)) if (name !== THINKING) body.edits.add(name);
      if (call.request.user !== null) body.edits.add('user');
      addPrompt(body, call);
      const config = generationConfig(call, body.edits);
      if (config !== null) body.add('generationConfig', config);
      const operation = isStreamed ? 'streamGenerateContent' : 'generateContent';
      return requestTo(operation, body, call, connection, traits);
    },
    problems: problemsOf,
    readError: readGoogleError,
    // Source: OpenRouter's documentation of cancelled streams.
    cancellation: 'runs_on',
    finishReasons: FINISH_REASONS,
    counter: {
      buildRequest: (call, connection) => {
        const body = traits.countsRequests ? countedRequest(call) : countedPrompt(call);
        return requestTo('countTokens', body, call, connection, traits);
      },
      readCount,
    },
  };
}

function requestTo(
  operation: GeminiOperation,
  body: BodyAssembly,
  { endpoint }: ChatCall,
  connection: ProviderConnection,
  traits: GeminiTraits,
): ChatUpstreamRequest {
  const isStream = operation === 'streamGenerateContent';
  const url = traits.url(connection, endpoint.upstreamModel, operation);
  const query = isStream ? `${url.includes('?') ? '&' : '?'}alt=sse` : '';
  return assembledRequest(url + query, traits.headers(connection), body, isStream);
}

function countedPrompt(call: ChatCall, body = new BodyAssembly()): BodyAssembly {
  addPrompt(body, call);
  return body;
}

function countedRequest(call: ChatCall): BodyAssembly {
  const request = new BodyAssembly();
  request.add('model', JSON.stringify(`models/${call.endpoint.upstreamModel}`));
  const body = new BodyAssembly();
  body.add('generateContentRequest', Buffer.concat(countedPrompt(call, request).finish()));
  return body;
}

function addPrompt(body: BodyAssembly, { request, endpoint }: ChatCall): void {
  const { systemInstruction, contents, losesThoughts } = promptForGemini(request.messages, endpoint);
  if (losesThoughts) body.edits.add(request.native?.wire === 'messages' ? THINKING : REASONING_DETAILS);
  body.add('contents', contents);
  if (systemInstruction !== null) body.add('systemInstruction', systemInstruction);
  if (request.tools.length === 0) return;
  body.add('tools', JSON.stringify(geminiTools(request.tools, body.edits)));
  const config = geminiToolConfig(request);
  if (config !== null) body.add('toolConfig', JSON.stringify(config));
}

/** Whether thoughts of the history are lost is known when they are written: those of Gemini are not. */
function problemsOf(request: ChatRequest, endpoint: ChatEndpoint): readonly ChatProblem[] {
  return chatProblems(request, endpoint, GEMINI_SUPPORT).filter(({ at }) => at !== THINKING);
}

function readCount(response: UpstreamResponse): number | null {
  return tokenCount(parseErrorBody(response)['totalTokens']);
}
