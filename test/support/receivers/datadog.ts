// Datadog's LLM Observability intake: 202 for spans, and the check of an API key. Source: its HTTP API reference and the
// limits of its clients.
import { isFlag, isOneOf, isText } from '../providers/provider-stub.js';
import {
  areDistinct,
  generationIdOf,
  isCount,
  isNumber,
  isObject,
  isString,
  listOf,
  matches,
  membersOf,
  objectWith,
  readJson,
  rejection,
} from './json-checks.js';
import type { JsonObject } from './json-checks.js';
import type { DestinationReceiver } from './receiver.js';

const CONFIG = { apiKey: '0123456789abcdef0123456789abcdef', mlApp: 'My Shop' };
const MAX_BYTES = 5_000_000;
const MAX_SPAN_BYTES = 1_000_000;

const isIo = objectWith({ value: isString });
const isName = (value: unknown): boolean =>
  typeof value === 'string' &&
  /^[\p{L}\p{N}_\-:./]{1,193}$/u.test(value) &&
  value === value.toLowerCase() &&
  !/__|_$/.test(value);

const isMetadata = membersOf((value) => isString(value) || isNumber(value) || isFlag(value));
const isError = objectWith({ type: isText }, { message: isText, stack: isText });
const isProvider = matches(/^(?!azure$).+/);
const isEmbedding = objectWith(
  { kind: isOneOf('embedding', 'retrieval'), model_name: isText },
  { model_provider: isProvider, input: isIo, output: isIo, error: isError, metadata: isMetadata },
);
// Every content is a text, and every argument list an object.
const isMessages = objectWith({
  messages: listOf(
    objectWith(
      { role: isText, content: isString },
      {
        reasoning: isString,
        tool_calls: listOf(
          objectWith({ name: isString, arguments: isObject, tool_id: isString, type: isText }),
          1,
        ),
        tool_results: listOf(
          objectWith({ name: isString, tool_id: isString, result: isString, type: isText }),
          1,
        ),
      },
    ),
  ),
});
const isLlm = objectWith(
  { kind: isOneOf('llm'), model_name: matches(/^[^/]+$/) },
  {
    model_provider: isProvider,
    input: isMessages,
    output: isMessages,
    tool_definitions: listOf(objectWith({ name: isText }, { description: isString, schema: isObject }), 1),
    error: isError,
    metadata: isMetadata,
  },
);
const isMeta = (value: unknown): boolean => isEmbedding(value) || isLlm(value);

const isBody = objectWith({
  data: objectWith({
    type: isOneOf('span'),
    attributes: objectWith(
      {
        ml_app: isName,
        spans: listOf(
          objectWith(
            {
              name: isText,
              span_id: matches(/^[0-9a-f]{16}$/),
              trace_id: matches(/^[0-9a-f]{32}$/),
              parent_id: matches(/^([0-9a-f]{16}|undefined)$/),
              start_ns: isCount,
              duration: isNumber,
              meta: isMeta,
            },
            {
              status: isOneOf('ok', 'error'),
              session_id: isText,
              tags: listOf(isString),
              metrics: membersOf(isNumber),
            },
          ),
          1,
        ),
      },
      { tags: listOf(isString), session_id: isText },
    ),
  }),
});

interface Body {
  readonly data: {
    readonly attributes: { readonly spans: readonly { span_id: string; meta: { metadata: JsonObject } }[] };
  };
}

/** The moments as they stand in the text: a number that was read is no longer exact. */
const hasWholeMilliseconds = (text: string, count: number): boolean => {
  const moments = [...text.matchAll(/(?<!\\)"start_ns":(\d+)[,}]/g)].map(([, digits]) => digits ?? '');
  return moments.length === count && moments.every((digits) => /^\d{13}0{6}$/.test(digits));
};

export const datadogReceiver: DestinationReceiver = {
  type: 'datadog',
  config: CONFIG,
  expectedOrigin: 'https://api.datadoghq.com',
  configFor: (origin) => ({ ...CONFIG, url: origin }),
  check: (request) => {
    const { method, path, headers, bytes } = request;
    if (headers['dd-api-key'] !== CONFIG.apiKey) return rejection(403, { errors: ['Forbidden'] });
    if (method === 'GET' && path === '/api/v1/validate') {
      return { reply: { status: 200, body: { valid: true } }, stored: [] };
    }
    if (method !== 'POST' || path !== '/api/intake/llm-obs/v1/trace/spans') return rejection(404);
    if (bytes.length > MAX_BYTES) return rejection(413, { errors: ['Payload too large'] });
    const body = readJson(request);
    if (!isBody(body)) return rejection(400, { errors: ['Bad Request'] });
    const { spans } = (body as Body).data.attributes;
    if (!areDistinct(spans.map(({ span_id: id }) => id))) return rejection(400, { errors: ['span_id'] });
    if (!hasWholeMilliseconds(bytes.toString('utf8'), spans.length))
      return rejection(400, { errors: ['start_ns'] });
    if (spans.some((span) => Buffer.byteLength(JSON.stringify(span)) > MAX_SPAN_BYTES)) {
      return rejection(400, { errors: ['span too large'] });
    }
    return {
      reply: { status: 202 },
      stored: spans.map(({ meta }) => generationIdOf(meta.metadata['generation_id'])),
    };
  },
  failures: {
    unauthorized: { status: 403, body: { errors: ['Forbidden'] } },
    rateLimited: { status: 429, body: { errors: ['Too many requests'] } },
    unavailable: { status: 503, body: { errors: ['Service Unavailable'] } },
  },
  partial: null,
};
