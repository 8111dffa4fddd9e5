// Google's generateContent wire behind this service, for the Gemini API and for Vertex: they differ in addresses and credentials
// (docs/contract.md#gemini-providers).
import type { ChatEndpoint } from '../../../domain/chat/chat-model.js';
import type { ChatRequest } from '../../../domain/chat/chat-request.js';
import { recordedEdits } from '../../../domain/generations/edits.js';
import { withoutUserInfo } from '../address.js';
import { BodyAssembly } from '../body-assembly.js';
import { chatProblems, hardProblems, lostMembers } from '../chat/chat-problems.js';
import type { ChatCall, ChatProblem, ChatUpstreamRequest, ChatWire } from '../chat-wire.js';
import { THINKING } from '../messages/reasoning-details.js';
import { REASONING_DETAILS } from '../turns/earlier-thoughts.js';
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
  /** The body of a count, around the prompt. */
  countBody(prompt: Buffer, upstreamModel: string): readonly Buffer[];
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
      return requestTo(operation, body.finish(), body.edits, call, connection, traits);
    },
    problems: problemsOf,
    readError: readGoogleError,
    // Source: OpenRouter's documentation of cancelled streams.
    cancellation: 'runs_on',
    finishReasons: FINISH_REASONS,
    counter: {
      buildRequest: (call, connection) => {
        const prompt = new BodyAssembly();
        addPrompt(prompt, call);
        const { upstreamModel } = call.endpoint;
        const body = traits.countBody(Buffer.concat(prompt.finish()), upstreamModel);
        return requestTo('countTokens', body, prompt.edits, call, connection, traits);
      },
      readCount,
    },
  };
}

function requestTo(
  operation: GeminiOperation,
  body: readonly Buffer[],
  edits: ReadonlySet<string>,
  { endpoint }: ChatCall,
  connection: ProviderConnection,
  traits: GeminiTraits,
): ChatUpstreamRequest {
  const isStream = operation === 'streamGenerateContent';
  const { url, headers } = withoutUserInfo(traits.url(connection, endpoint.upstreamModel, operation));
  return {
    method: 'POST',
    url: isStream ? `${url}${url.includes('?') ? '&' : '?'}alt=sse` : url,
    headers: {
      'content-type': 'application/json',
      accept: isStream ? 'text/event-stream' : 'application/json',
      ...headers,
      ...traits.headers(connection),
    },
    body,
    edits: recordedEdits(edits),
  };
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
