// OpenAI's Responses API on loopback, and its chat completions: refuses what the vendor refuses, and answers what a test scripts. Source:
// OpenAI's reference of the Responses API, and errors as users quote them.
import type { ServerResponse } from 'node:http';
import { answerChat } from '../upstreams/chat-upstream.js';
import { sendJson, startStubUpstream } from '../upstreams/stub-upstream.js';
import type { ReceivedRequest, StubUpstream } from '../upstreams/stub-upstream.js';
import {
  answerEvents,
  eventText,
  itemOf,
  RESPONSE_USAGE,
  responseObject,
  RICH_OUTPUT,
} from './responses-events.js';
import type { OutputSpec, WireEvent } from './responses-events.js';

type Members = Readonly<Record<string, unknown>>;
export type StubAnswer = (request: ReceivedRequest, response: ServerResponse) => void;

const KNOWN = new Set(
  (
    'model input instructions max_output_tokens tools tool_choice parallel_tool_calls max_tool_calls text reasoning include stream ' +
    'stream_options temperature top_p top_logprobs prompt_cache_key prompt_cache_options prompt_cache_retention service_tier user ' +
    'safety_identifier metadata store truncation client_metadata background'
  ).split(' '),
);
export const STUB_KEY = 'upstream-key';
export const OWN_KEY = 'sk-own-key-of-a-customer';
const LEAST_OUTPUT = 16;

export interface ResponsesStub extends StubUpstream {
  answerWith(answer: StubAnswer | null): void;
}

export async function startResponsesStub(): Promise<ResponsesStub> {
  let scripted: StubAnswer | null = null;
  const stub = await startStubUpstream((request, response) => {
    const key = request.headers.authorization?.replace('Bearer ', '');
    if (key !== STUB_KEY && key !== OWN_KEY)
      return sendError(response, 401, { message: 'Incorrect API key provided', code: 'invalid_api_key' });
    if (request.path === '/v1/chat/completions') return answerChat(request, response);
    if (request.path !== '/v1/responses') return sendError(response, 404, { message: 'Invalid URL' });
    const problem = problemOf(request.body);
    if (problem !== null) return sendError(response, 400, problem);
    return (scripted ?? answerRich)(request, response);
  });
  return Object.assign(stub, {
    answerWith: (answer: StubAnswer | null): void => {
      scripted = answer;
    },
  });
}

interface Problem {
  readonly message: string;
  readonly param?: string;
  readonly code?: string;
}

export function sendError(response: ServerResponse, status: number, problem: Problem): void {
  sendJson(response, status, {
    error: { type: 'invalid_request_error', param: null, code: null, ...problem },
  });
}

/** The reason for a 400 of the vendor; null: none. */
function problemOf(body: Members): Problem | null {
  const unknown = Object.keys(body).find((name) => !KNOWN.has(name));
  if (unknown !== undefined)
    return { message: `Unknown parameter: '${unknown}'.`, param: unknown, code: 'unknown_parameter' };
  if (body['store'] !== false) return { message: 'the test keeps nothing', param: 'store' };
  const { max_output_tokens: limit = LEAST_OUTPUT, reasoning = {} } = body;
  if (typeof limit !== 'number' || limit < LEAST_OUTPUT)
    return {
      message: `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${String(limit)} instead.`,
      param: 'max_output_tokens',
      code: 'integer_below_min_value',
    };
  const setting = Object.keys(reasoning as object).find((name) => !['effort', 'summary'].includes(name));
  if (setting !== undefined)
    return { message: `Unknown parameter: 'reasoning.${setting}'.`, param: `reasoning.${setting}` };
  const model = String(body['model']);
  const sampling = ['temperature', 'top_p'].find((name) => body[name] !== undefined);
  if (model === 'gpt-stub' && sampling !== undefined)
    return {
      message: `Unsupported parameter: '${sampling}' is not supported with this model.`,
      param: sampling,
    };
  if (model === 'plain-stub' && JSON.stringify(body['include'] ?? []).includes('encrypted_content'))
    return { message: 'Encrypted content is not supported with this model.', param: 'include' };
  const input = body['input'];
  return toolProblem(body['tools']) ?? (Array.isArray(input) ? itemsProblem(input as Members[]) : null);
}

function toolProblem(tools: unknown): Problem | null {
  for (const [index, tool] of ((tools ?? []) as Members[]).entries()) {
    const { type, name, parameters } = tool;
    const isKnown = type === 'function' || type === 'custom' || type === 'namespace';
    if (!isKnown) return { message: `the test pays for no ${String(type)}`, param: `tools[${index}].type` };
    if (typeof name !== 'string')
      return {
        message: `Missing required parameter: 'tools[${index}].name'.`,
        param: `tools[${index}].name`,
      };
    if (type === 'function' && (typeof parameters !== 'object' || tool['function'] !== undefined))
      return {
        message: `Invalid type for 'tools[${index}].parameters'.`,
        param: `tools[${index}].parameters`,
      };
  }
  return null;
}

function itemsProblem(items: readonly Members[]): Problem | null {
  const calls = new Set<unknown>();
  const answered = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    const at = `input[${index}]`;
    const { type = 'message', role, content, call_id: callId, id } = item;
    switch (type) {
      case 'message': {
        const parts = Array.isArray(content) ? (content as Members[]) : [];
        const wanted = role === 'assistant' ? /^(output_text|refusal)$/ : /^input_(text|image|file|audio)$/;
        const wrong = parts.find((part) => !wanted.test(String(part['type'])));
        if (wrong)
          return { message: `Invalid value: '${String(wrong['type'])}'.`, param: `${at}.content[0]` };
        break;
      }
      case 'reasoning': {
        const { encrypted_content: encrypted } = item;
        if (typeof encrypted !== 'string')
          return {
            message: `Item with id '${String(id)}' not found. Items are not persisted when \`store\` is set to false.`,
            param: 'input',
          };
        if (!encrypted.startsWith('gAAAA'))
          return {
            message: `The encrypted content for item ${String(id)} could not be verified.`,
            code: 'invalid_encrypted_content',
          };
        break;
      }
      case 'function_call':
      case 'custom_tool_call':
        calls.add(callId);
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        if (!calls.has(callId))
          return {
            message: `No tool call found for function call output with call_id ${String(callId)}.`,
            param: 'input',
          };
        answered.add(callId);
        break;
      default:
        return { message: `Invalid value: '${String(type)}'.`, param: `${at}.type` };
    }
  }
  const [open] = [...calls].filter((call) => !answered.has(call)).map(String);
  return open === undefined
    ? null
    : { message: `No tool output found for function call ${open}.`, param: 'input' };
}

export const streamResponses =
  (events: readonly WireEvent[]): StubAnswer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_stub' });
    response.end(events.map(eventText).join(''));
  };

export const wholeResponse = (specs: readonly OutputSpec[], more: Members = {}): Members =>
  responseObject(
    'completed',
    specs.map((spec, index) => itemOf(spec, index)),
    { usage: RESPONSE_USAGE, ...more },
  );

/** An answer of these items, streamed or whole as it is asked for. */
export const answerOutput =
  (specs: readonly OutputSpec[], more: Members & { readonly status?: string } = {}): StubAnswer =>
  (request, response) => {
    if (request.body['stream'] === true) streamResponses(answerEvents(specs, more))(request, response);
    else sendJson(response, 200, wholeResponse(specs, more));
  };

const answerRich = answerOutput(RICH_OUTPUT);
