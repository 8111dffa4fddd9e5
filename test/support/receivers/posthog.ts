// PostHog's capture: it says 200 to a key that it does not know and to events that it drops; the flags endpoint knows the
// keys. Source: its API reference, its page of the event `$ai_embedding`, PostHog/posthog issue 54670.
import { isFlag, isOneOf, isText } from '../providers/provider-stub.js';
import type { MemberCheck } from '../providers/provider-stub.js';
import {
  areDistinct,
  generationIdOf,
  isCount,
  isNumber,
  isObject,
  isString,
  isTime,
  listOf,
  matches,
  objectWith,
  orNull,
  readJson,
  rejection,
} from './json-checks.js';
import type { JsonObject } from './json-checks.js';
import type { DestinationReceiver } from './receiver.js';

const CONFIG = { apiKey: 'phc_0123456789abcdef' };
const MAX_BYTES = 20_000_000;
const MAX_EVENT_BYTES = 1_000_000;
const MAX_DEPTH = 3;
const INVALID_KEY = {
  type: 'authentication_error',
  code: 'invalid_api_key',
  detail: 'Project API key invalid.',
};

// A refusal without a content would be shown as an empty answer.
const isAnswer: MemberCheck = (value) =>
  objectWith({ role: isOneOf('assistant'), content: orNull(isString) }, ANSWER)(value) &&
  (!(value as JsonObject)['refusal'] || Boolean((value as JsonObject)['content']));
const ANSWER = { reasoning: isString, refusal: isString, tool_calls: listOf(isObject, 1) };

const PROPERTIES: Readonly<Record<string, (value: unknown) => boolean>> = {
  $process_person_profile: isOneOf(false),
  $ai_trace_id: matches(/^[A-Za-z0-9\-_~.@()!':|]+$/),
  $ai_session_id: isText,
  $ai_span_id: isText,
  $ai_span_name: isText,
  $ai_parent_id: isText,
  $ai_model: isText,
  $ai_provider: isText,
  $ai_input: (value) => isString(value) || listOf((item) => isString(item) || isObject(item))(value),
  $ai_input_state: listOf(isString),
  $ai_output_state: isObject,
  $ai_output_choices: listOf(isAnswer),
  $ai_tools: listOf(isObject, 1),
  $ai_output_tokens: isCount,
  $ai_cache_read_input_tokens: isCount,
  $ai_cache_creation_input_tokens: isCount,
  $ai_cache_reporting_exclusive: isOneOf(false),
  $ai_reasoning_tokens: isCount,
  $ai_time_to_first_token: isNumber,
  $ai_stream: isFlag,
  $ai_stop_reason: isText,
  $ai_temperature: isNumber,
  $ai_max_tokens: isCount,
  $ai_model_parameters: isObject,
  $ai_input_tokens: isCount,
  $ai_latency: isNumber,
  $ai_http_status: isCount,
  $ai_is_error: isFlag,
  $ai_error: isText,
  $ai_input_cost_usd: isNumber,
  $ai_output_cost_usd: isNumber,
  $ai_total_cost_usd: isNumber,
};

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

/** A name with a dollar sign is the platform's own; callers' keys have a prefix and are shallow. */
const isProperties = (value: unknown): boolean =>
  isObject(value) &&
  isText(value['$ai_trace_id']) &&
  Object.entries(value).every(([name, property]) => {
    if (name.startsWith('$')) return Object.hasOwn(PROPERTIES, name) && PROPERTIES[name]!(property);
    return !name.startsWith('metadata_') || depthOf(property) <= MAX_DEPTH;
  });

const isBody = objectWith({
  api_key: isText,
  batch: listOf(
    objectWith({
      event: isOneOf('$ai_embedding', '$ai_generation', '$ai_span'),
      uuid: matches(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      distinct_id: (value) => typeof value === 'string' && value.trim() !== '' && value.length <= 200,
      timestamp: isTime,
      properties: isProperties,
    }),
    1,
  ),
});

/** Without the flag the platform counts tokens of the cache twice for some names of models. */
const saysHowTokensAreCounted = ({ event, properties }: Body['batch'][number]): boolean =>
  event !== '$ai_generation' || properties['$ai_cache_reporting_exclusive'] === false;

interface Body {
  readonly api_key: string;
  readonly batch: readonly {
    readonly event: string;
    readonly uuid: string;
    readonly properties: JsonObject;
  }[];
}

export const posthogReceiver: DestinationReceiver = {
  type: 'posthog',
  config: CONFIG,
  expectedOrigin: 'https://us.i.posthog.com',
  configFor: (origin) => ({ ...CONFIG, endpoint: origin }),
  check: (request) => {
    const { method, path, bytes } = request;
    const body = readJson(request);
    if (method === 'POST' && path === '/flags/?v=2') {
      if (!objectWith({ api_key: isText, distinct_id: isText })(body)) return rejection(400);
      if ((body as Body).api_key !== CONFIG.apiKey) return rejection(401, INVALID_KEY);
      return { reply: { status: 200, body: { flags: {}, errorsWhileComputingFlags: false } }, stored: [] };
    }
    if (method !== 'POST' || path !== '/batch/') return rejection(404);
    if (bytes.length > MAX_BYTES) return rejection(413);
    if (!isBody(body)) return rejection(400, { type: 'validation_error', detail: 'Malformed request data' });
    const { api_key: apiKey, batch } = body as Body;
    if (!areDistinct(batch.map(({ uuid }) => uuid))) return rejection(400, { detail: 'a uuid stands twice' });
    if (!batch.every(saysHowTokensAreCounted)) return rejection(400, { detail: 'tokens of the cache' });
    const kept = batch.filter((event) => Buffer.byteLength(JSON.stringify(event)) <= MAX_EVENT_BYTES);
    return {
      reply: { status: 200, body: { status: 'Ok' } },
      stored:
        apiKey === CONFIG.apiKey
          ? kept.map(({ properties }) => generationIdOf(properties['generation_id']))
          : [],
    };
  },
  failures: {
    unauthorized: { status: 401, body: INVALID_KEY },
    rateLimited: { status: 429, body: { type: 'throttled_error', detail: 'Request was throttled.' } },
    unavailable: { status: 503, body: 'Service Unavailable' },
  },
  partial: null,
};
