// Braintrust's project logs: rows are inserted by id, and the project can be read. Source: its API reference and its
// specification of embedding spans.
import { isOneOf, isText } from '../providers/provider-stub.js';
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

const CONFIG = { apiKey: 'sk-bt-0123456789abcdef', projectId: '6f9619ff-8b86-d011-b42d-00cf4fc964ff' };
const MAX_BYTES = 10_000_000;

const isMessage = (value: unknown): boolean => isObject(value) && isText(value['role']);
const isChoice = objectWith({ index: isCount, message: isMessage, finish_reason: orNull(isText) });

const isResult = objectWith({ index: isCount, relevance_score: isNumber });

const isBody = objectWith({
  events: listOf(
    objectWith(
      {
        id: isText,
        span_id: matches(/^[0-9a-f]{16}$/),
        root_span_id: matches(/^[0-9a-f]{32}$/),
        span_parents: orNull(listOf(matches(/^[0-9a-f]{16}$/), 1)),
        created: isTime,
        input: orNull(
          (value) =>
            objectWith({ inputs: listOf(objectWith({ content: isString })) })(value) ||
            listOf(isMessage)(value),
        ),
        output: orNull(
          (value) =>
            objectWith({ count: isCount })(value) ||
            objectWith({ results: listOf(isResult) })(value) ||
            listOf(isChoice)(value),
        ),
        // Prices are filed under bare names.
        metadata: (value) =>
          isObject(value) && matches(/^[^/]+$/)(value['model']) && isText(value['generation_id']),
        tags: (value) => listOf(isString)(value) && areDistinct(value as unknown[]),
        span_attributes: objectWith({ name: isText, type: isOneOf('llm', 'task') }),
        metrics: objectWith(
          {
            start: isNumber,
            end: isNumber,
            prompt_tokens: isCount,
            completion_tokens: isCount,
            tokens: isCount,
          },
          {
            estimated_cost: isNumber,
            prompt_cached_tokens: isCount,
            prompt_cache_creation_tokens: isCount,
            completion_reasoning_tokens: isCount,
            time_to_first_token: isNumber,
          },
        ),
      },
      { error: isText },
    ),
    1,
  ),
});

export const braintrustReceiver: DestinationReceiver = {
  type: 'braintrust',
  config: CONFIG,
  expectedOrigin: 'https://api.braintrust.dev',
  configFor: (origin) => ({ ...CONFIG, baseUrl: origin }),
  check: (request) => {
    const { method, path, headers, bytes } = request;
    if (headers.authorization !== `Bearer ${CONFIG.apiKey}`)
      return rejection(401, 'Invalid authorization token');
    if (method === 'GET' && path === `/v1/project/${CONFIG.projectId}`) {
      return { reply: { status: 200, body: { id: CONFIG.projectId, name: 'My project' } }, stored: [] };
    }
    if (method !== 'POST' || path !== `/v1/project_logs/${CONFIG.projectId}/insert`) return rejection(404);
    if (bytes.length > MAX_BYTES) return rejection(413, 'Request Entity Too Large');
    const body = readJson(request);
    if (!isBody(body)) return rejection(400, 'Invalid request: events');
    const { events } = body as { events: readonly { id: string; metadata: JsonObject }[] };
    const rowIds = events.map(({ id }) => id);
    if (!areDistinct(rowIds)) return rejection(400, 'Invalid request: a row id stands twice');
    return {
      reply: { status: 200, body: { row_ids: rowIds } },
      stored: events.map(({ metadata }) => generationIdOf(metadata['generation_id'])),
    };
  },
  failures: {
    unauthorized: { status: 401, body: 'Invalid authorization token' },
    rateLimited: { status: 429, body: 'Too many requests' },
    unavailable: { status: 503, body: 'Service Unavailable' },
  },
  partial: null,
};
