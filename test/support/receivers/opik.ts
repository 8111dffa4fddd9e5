// Opik Cloud: traces and spans in batches, and the search for a project. Source: its REST API reference and the
// validation in its public backend.
import { isOneOf, isText } from '../providers/provider-stub.js';
import {
  areDistinct,
  generationIdOf,
  isNumber,
  isObject,
  isString,
  isTime,
  listOf,
  matches,
  membersOf,
  objectWith,
  readJson,
  rejection,
} from './json-checks.js';
import type { JsonObject } from './json-checks.js';
import type { DestinationReceiver, ReceivedDelivery, ReceiverResult } from './receiver.js';

const CONFIG = { apiKey: '0123456789abcdef', workspace: 'my-team', projectName: 'my project/1' };
const API = '/opik/api/v1/private';
const MAX_ITEMS = 1000;

const isId = matches(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);

const REQUIRED = { id: isId, name: isText, start_time: isTime, project_name: isOneOf(CONFIG.projectName) };
const OPTIONAL = {
  end_time: isTime,
  input: isObject,
  output: isObject,
  metadata: isObject,
  tags: listOf(isString),
  error_info: objectWith({ exception_type: isText, traceback: isText }, { message: isText }),
  ttft: isNumber,
};
const isTraces = objectWith({
  traces: listOf(objectWith(REQUIRED, { ...OPTIONAL, thread_id: isText }), 1, MAX_ITEMS),
});
const isSpans = objectWith({
  spans: listOf(
    objectWith(
      { ...REQUIRED, trace_id: isId, type: isOneOf('general', 'tool', 'llm', 'guardrail') },
      {
        ...OPTIONAL,
        parent_span_id: isId,
        model: isText,
        provider: isText,
        usage: membersOf(Number.isInteger),
        total_estimated_cost: isNumber,
      },
    ),
    1,
    MAX_ITEMS,
  ),
});

interface Item {
  readonly id: string;
  readonly start_time: string;
  readonly metadata: JsonObject;
}

const timeOf = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16);

/** Traces are taken too, and a generation counts as stored with its span, which has its tokens and its cost. */
function checkItems(request: ReceivedDelivery, member: 'traces' | 'spans'): ReceiverResult {
  const body = readJson(request);
  if (!(member === 'traces' ? isTraces(body) : isSpans(body))) {
    return rejection(422, { errors: [`${member} must be valid`] });
  }
  const items = (body as Readonly<Record<string, readonly Item[]>>)[member] ?? [];
  if (!areDistinct(items.map(({ id }) => id))) return rejection(409, { errors: [`Duplicate ${member}`] });
  if (items.some((item) => timeOf(item.id) !== Date.parse(item.start_time))) {
    return rejection(400, { errors: ['id must be a version 7 UUID of its time'] });
  }
  const generations = items.map(({ metadata }) => generationIdOf(metadata['generation_id']));
  return { reply: { status: 204 }, stored: member === 'spans' ? generations : [] };
}

export const opikReceiver: DestinationReceiver = {
  type: 'opik',
  config: CONFIG,
  expectedOrigin: 'https://www.comet.com',
  configFor: () => null,
  check: (request) => {
    const { method, path, headers } = request;
    if (headers.authorization !== CONFIG.apiKey)
      return rejection(401, { code: 401, message: 'API key should be provided' });
    if (headers['comet-workspace'] !== CONFIG.workspace) {
      return rejection(403, { code: 403, message: 'User has no access to workspace' });
    }
    const { pathname, searchParams } = new URL(path, 'https://www.comet.com');
    if (
      method === 'GET' &&
      pathname === `${API}/projects` &&
      searchParams.get('name') === CONFIG.projectName
    ) {
      return { reply: { status: 200, body: { page: 1, size: 0, total: 0, content: [] } }, stored: [] };
    }
    if (method === 'POST' && path === `${API}/traces/batch`) return checkItems(request, 'traces');
    if (method === 'POST' && path === `${API}/spans/batch`) return checkItems(request, 'spans');
    return rejection(404, { code: 404, message: 'HTTP 404 Not Found' });
  },
  failures: {
    unauthorized: { status: 401, body: { code: 401, message: 'API key should be provided' } },
    rateLimited: { status: 429, body: { errors: ['Too Many Requests'] } },
    unavailable: { status: 503, body: 'Service Unavailable' },
  },
  partial: null,
};
