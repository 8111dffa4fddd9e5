// A stub of every provider with chat models. Sources: the vendors' references, and errors as users quote them.
import { openAiError } from '../providers/openai-errors.js';
import type { StubReply } from '../providers/provider-stub.js';
import { bearerOf } from './chat-stub.js';
import type { ChatStubDefinition } from './chat-stub.js';
import {
  emptyMember,
  hasIdleStreamOptions,
  hasStrictTool,
  lacksParameters,
  messagesOf,
  OPENAI_MEMBERS,
  toolIdsOf,
  unknownMember,
  unknownMessageMember,
  unknownToolMember,
} from './checks.js';

type Body = Readonly<Record<string, unknown>>;

const OPENAI_MESSAGE = ['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'refusal'];
const PLAIN_MESSAGE = ['role', 'content', 'tool_calls', 'tool_call_id'];
/** OpenAI's reasoning models by name; Azure's deployments of the tests have the same names. */
const REASONING = /^(o\d|gpt-5)/;

function openAiRefusal(body: Body, members: readonly string[] = OPENAI_MEMBERS): StubReply | null {
  const unknown =
    unknownMember(body, members) ?? unknownMessageMember(body, OPENAI_MESSAGE) ?? unknownToolMember(body);
  if (unknown !== null) return openAiError(400, `Unknown parameter: '${unknown}'.`, 'unknown_parameter');
  const empty = emptyMember(body);
  if (empty !== null) return openAiError(400, `Invalid type for '${empty}'.`, 'invalid_type');
  const isReasoning = REASONING.test(String(body['model']));
  const refused = ['max_tokens', 'stop', 'frequency_penalty', 'presence_penalty', 'logprobs', 'logit_bias'];
  const unsupported = isReasoning && refused.find((name) => body[name] !== undefined);
  if (unsupported)
    return openAiError(400, `Unsupported parameter: '${unsupported}'`, 'unsupported_parameter');
  if (isReasoning && ![undefined, 1].includes(body['temperature'] as number | undefined))
    return openAiError(400, "Unsupported value: 'temperature'", 'unsupported_value');
  if (body['parallel_tool_calls'] !== undefined && body['tools'] === undefined)
    return openAiError(400, "'parallel_tool_calls' is only allowed when 'tools' are specified.", null);
  if (hasIdleStreamOptions(body))
    return openAiError(400, "'stream_options' is only allowed when 'stream' is enabled.", null);
  return null;
}

const openAiUnauthorised = (): StubReply =>
  openAiError(401, 'Incorrect API key provided: sk-wr**ng.', 'invalid_api_key');

/** The wire of OpenAI with a key of its own. */
function stub(definition: Partial<ChatStubDefinition> & { slug: string }): ChatStubDefinition {
  const apiKey = `key-of-${definition.slug}`;
  return {
    basePath: '/v1',
    path: '/v1/chat/completions',
    apiKey,
    isAuthorised: (request) => bearerOf(request) === apiKey,
    unauthorised: openAiUnauthorised,
    refusal: () => null,
    usage: 'asked',
    ...definition,
  };
}

function azure(
  path: string,
  refusal: (body: Body) => StubReply | null,
  basePath: string,
): ChatStubDefinition {
  return stub({
    slug: 'azure',
    basePath,
    path,
    isAuthorised: ({ headers }) => headers['api-key'] === 'key-of-azure',
    refusal,
    firstChunk: { choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] },
  });
}

const azureRefusal = (body: Body): StubReply | null => openAiRefusal(body);

/** The refusal of a version before `stream_options`, and before the new name of the output limit. */
function oldAzureRefusal(body: Body): StubReply | null {
  if (body['stream_options'] !== undefined)
    return openAiError(400, 'Unrecognized request argument supplied: stream_options', null);
  return openAiRefusal(body);
}

function mistralRefusal(body: Body): StubReply | null {
  const known =
    'model messages stream max_tokens temperature top_p stop random_seed n frequency_penalty presence_penalty tools ' +
    'tool_choice parallel_tool_calls response_format reasoning_effort prediction safe_prompt prompt_mode';
  const members = ['role', 'content', 'tool_calls', 'tool_call_id', 'prefix'];
  const unknown = unknownMember(body, known.split(' '));
  const inMessage = messagesOf(body)
    .map((message) => unknownMember(message, message['role'] === 'tool' ? [...members, 'name'] : members))
    .find((name) => name !== null);
  const name = unknown ?? inMessage ?? unknownToolMember(body) ?? emptyMember(body);
  const invalid = (type: string, loc: string, msg: string): StubReply => {
    const detail = [{ type, loc: ['body', ...loc.split('.')], msg }];
    return { status: 422, body: { object: 'error', message: { detail }, type: 'invalid_request_error' } };
  };
  if (name !== null) return invalid('extra_forbidden', name, 'Extra inputs are not permitted');
  if (lacksParameters(body)) return invalid('missing', 'tools.0.function.parameters', 'Field required');
  const reject = (message: string, code: string): StubReply => ({
    status: 400,
    body: { object: 'error', message, type: 'invalid_request_error', param: null, code },
  });
  const wrongId = toolIdsOf(body).find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
  if (wrongId !== undefined)
    return reject(`Tool call id was ${wrongId} but must be a-z, A-Z, 0-9, with a length of 9.`, '3280');
  const called = new Set<string>();
  for (const { role, tool_calls: calls, tool_call_id: answered } of messagesOf(body)) {
    if (role === 'developer') return reject('Unexpected role developer', '3240');
    if (role === 'tool' && !called.has(String(answered))) return reject('Unexpected tool call id', '3230');
    if (Array.isArray(calls)) for (const { id } of calls as { id: string }[]) called.add(id);
  }
  const last = messagesOf(body).at(-1);
  if (last?.['role'] === 'assistant' && last['prefix'] !== true)
    return reject('Expected last role User or Tool (or Assistant with prefix True) for serving', '3230');
  return null;
}

function googleRefusal(body: Body): StubReply | null {
  const known =
    'model messages stream stream_options max_completion_tokens max_tokens temperature top_p stop tools tool_choice ' +
    'response_format reasoning_effort logprobs top_logprobs extra_body';
  const unknown =
    unknownMember(body, known.split(' ')) ?? unknownMessageMember(body, [...PLAIN_MESSAGE, 'extra_content']);
  const name = unknown ?? unknownToolMember(body) ?? (hasStrictTool(body) ? 'strict' : null);
  if (name === null && !lacksSignature(body)) return null;
  const message =
    name === null
      ? 'Function call is missing a thought_signature in functionCall parts.'
      : `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`;
  return { status: 400, body: [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }] };
}

function cohereRefusal(body: Body): StubReply | null {
  const known =
    'model messages stream max_tokens temperature top_p stop seed frequency_penalty presence_penalty tools tool_choice ' +
    'response_format reasoning_effort';
  const unknown = unknownMember(body, known.split(' ')) ?? unknownMessageMember(body, PLAIN_MESSAGE);
  const name = unknown ?? unknownToolMember(body) ?? (hasStrictTool(body) ? 'strict' : emptyMember(body));
  if (name !== null)
    return { status: 422, body: { message: `unknown field: parameter '${name}' is not a valid field` } };
  // The schema of its API requires them.
  if (lacksParameters(body)) return { status: 422, body: { message: 'parameters: field required' } };
  const isOutside = (member: string, most: number): boolean =>
    typeof body[member] === 'number' && (body[member] < 0 || body[member] > most);
  const outside =
    ['frequency_penalty', 'presence_penalty'].find((member) => isOutside(member, 1)) ??
    (isOutside('top_p', 0.99) ? 'top_p' : undefined);
  if (outside !== undefined)
    return { status: 400, body: { message: `invalid request: ${outside} is out of range` } };
  return typeof body['stop'] === 'string' ? { status: 400, body: { message: 'stop must be a list' } } : null;
}

/** Streams are the only place of `stream_options`. Null is no list of tool calls, and templates want at least one. */
function vllmRefusal(body: Body): StubReply | null {
  const reject = (message: string): StubReply => ({
    status: 400,
    body: { object: 'error', message, type: 'BadRequestError', param: null, code: 400 },
  });
  if (hasIdleStreamOptions(body)) return reject('Stream options can only be defined when `stream=True`.');
  return emptyMember(body) === null ? null : reject("'NoneType' object is not iterable");
}

/** Google's tool calls have neither index nor id, and the first of them has the signature of its thought. */
function googleDelta(delta: Body): Body {
  const { tool_calls: calls } = delta;
  if (!Array.isArray(calls)) return delta;
  const signed = { extra_content: { google: { thought_signature: 'c2lnbmF0dXJl' } } };
  const altered = (calls as Body[]).map(({ type, function: called }, index) =>
    Object.assign({ id: '', type, function: called }, index === 0 ? signed : {}),
  );
  return { ...delta, tool_calls: altered };
}

/** Gemini 3 wants a signature with the first function call of a message. */
function lacksSignature(body: Body): boolean {
  if (!String(body['model']).startsWith('gemini-3')) return false;
  return messagesOf(body).some(({ tool_calls: calls }) => {
    const [first] = Array.isArray(calls) ? (calls as { extra_content?: { google?: object } }[]) : [];
    return first !== undefined && !('thought_signature' in (first.extra_content?.google ?? {}));
  });
}

export const CHAT_STUBS = {
  openai: stub({ slug: 'openai', refusal: (body) => openAiRefusal(body) }),
  azure: {
    ...azure('/openai/v1/chat/completions', azureRefusal, ''),
    otherPaths: ['/openai/deployments/gpt-4o/chat/completions'],
  },
  oldAzure: azure('/openai/deployments/gpt-4o/chat/completions', oldAzureRefusal, '/?api-version=2024-06-01'),
  mistral: stub({
    slug: 'mistral',
    refusal: mistralRefusal,
    usage: 'last',
    unauthorised: () => ({ status: 401, body: { detail: 'Unauthorized' } }),
  }),
  together: stub({
    slug: 'together',
    usage: 'last',
    refusal: ({ logprobs, stop }) =>
      typeof logprobs === 'boolean' || typeof stop === 'string'
        ? openAiError(400, 'Input validation error', null)
        : null,
  }),
  deepinfra: stub({
    slug: 'deepinfra',
    basePath: '/v1/openai',
    path: '/v1/openai/chat/completions',
    refusal: () => null,
  }),
  // Names are matched without regard to case, unknown ones ignored.
  // A local server asks for no key.
  ollama: stub({
    slug: 'ollama',
    basePath: '',
    sendsWholeCalls: true,
    isAuthorised: (request) => [undefined, 'key-of-ollama'].includes(bearerOf(request)),
  }),
  vllm: stub({ slug: 'vllm', refusal: vllmRefusal }),
  'openai-compatible': stub({ slug: 'openai-compatible', usage: 'asked' }),
  google: stub({
    slug: 'google',
    basePath: '/v1beta',
    path: '/v1beta/openai/chat/completions',
    refusal: googleRefusal,
    usage: 'every_chunk',
    alter: googleDelta,
    sendsWholeCalls: true,
    unauthorised: () => ({
      status: 400,
      body: [{ error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } }],
    }),
  }),
  cohere: stub({
    slug: 'cohere',
    basePath: '',
    path: '/compatibility/v1/chat/completions',
    refusal: cohereRefusal,
    usage: 'last',
    unauthorised: () => ({ status: 401, body: { message: 'invalid api token' } }),
  }),
} as const satisfies Record<string, ChatStubDefinition>;

export type ChatStubName = keyof typeof CHAT_STUBS;
