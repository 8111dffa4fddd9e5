// Weave's trace server: finished calls in batches, and the query of a project's calls. Source: its service API reference
// and the validation in its public repository.
import { isText } from '../providers/provider-stub.js';
import {
  areDistinct,
  generationIdOf,
  isCount,
  isObject,
  isTime,
  listOf,
  matches,
  membersOf,
  objectWith,
  readJson,
  rejection,
} from './json-checks.js';
import type { JsonObject } from './json-checks.js';
import type { DestinationReceiver } from './receiver.js';

const CONFIG = {
  apiKey: '0123456789abcdef0123456789abcdef01234567',
  entity: 'my-team',
  project: 'my project',
};
const PROJECT_ID = `${CONFIG.entity}/${CONFIG.project}`;
const AUTHORIZATION = `Basic ${Buffer.from(`api:${CONFIG.apiKey}`).toString('base64')}`;
// Nothing is published: what a common gateway takes.
const MAX_BYTES = 10_000_000;

const isId = matches(/^([0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/);
const isProjectId = (value: unknown): boolean => value === PROJECT_ID;
const isAtMost =
  (length: number) =>
  (value: unknown): boolean =>
    typeof value === 'string' && value !== '' && value.length <= length;

/** The chat view opens for a completion. */
const isOutput = (value: unknown): boolean =>
  isObject(value) &&
  (Object.hasOwn(value, 'count') ||
    listOf(isObject)(value['results']) ||
    (value['object'] === 'chat.completion' && listOf(isObject)(value['choices'])));

const isBody = objectWith({
  batch: listOf(
    objectWith(
      {
        project_id: isProjectId,
        id: isId,
        trace_id: isId,
        op_name: isAtMost(128),
        started_at: isTime,
        ended_at: isTime,
        attributes: (value) => isObject(value) && isObject(value['weave']),
        inputs: isObject,
        summary: objectWith({
          // Prices are joined by the bare name.
          usage: (value) =>
            membersOf(
              objectWith(
                { requests: isCount, prompt_tokens: isCount, total_tokens: isCount },
                {
                  completion_tokens: isCount,
                  prompt_tokens_details: membersOf(isCount),
                  completion_tokens_details: membersOf(isCount),
                },
              ),
            )(value) && Object.keys(value as JsonObject).every((name) => !name.includes('/')),
          status_counts: objectWith({ success: isCount, error: isCount }),
        }),
      },
      {
        display_name: isAtMost(1024),
        parent_id: matches(/^[0-9a-f]{16}$/),
        thread_id: isText,
        turn_id: isId,
        output: isOutput,
        exception: isText,
      },
    ),
    1,
  ),
});

interface Call {
  readonly id: string;
  readonly trace_id: string;
  readonly parent_id?: string;
  readonly thread_id?: string;
  readonly turn_id?: string;
  readonly attributes: JsonObject;
}

export const weaveReceiver: DestinationReceiver = {
  type: 'weave',
  config: CONFIG,
  expectedOrigin: 'https://trace.wandb.ai',
  configFor: (origin) => ({ ...CONFIG, baseUrl: origin }),
  check: (request) => {
    const { method, path, headers, bytes } = request;
    if (headers.authorization !== AUTHORIZATION) return rejection(401, { detail: 'Invalid API key' });
    const body = readJson(request);
    if (method === 'POST' && path === '/calls/stream_query') {
      const isQuery = objectWith({ project_id: isProjectId }, { limit: isCount, columns: listOf(isText) });
      return isQuery(body) ? { reply: { status: 200 }, stored: [] } : rejection(403, { detail: 'Forbidden' });
    }
    if (
      method !== 'POST' ||
      path !== `/v2/${CONFIG.entity}/${encodeURIComponent(CONFIG.project)}/calls/complete`
    ) {
      return rejection(404, { detail: 'Not Found' });
    }
    if (bytes.length > MAX_BYTES) return rejection(413);
    if (!isBody(body)) return rejection(422, { detail: [{ loc: ['body', 'batch'], msg: 'invalid' }] });
    const { batch } = body as { batch: readonly Call[] };
    // The page of a root is looked up by its trace, and a call without its parent is hidden.
    if (
      batch.some(({ id, trace_id: traceId, parent_id: parentId }) => parentId !== undefined || id !== traceId)
    )
      return rejection(422, { detail: 'a call that no list shows' });
    // A thread lists its turns only: the calls with the id of their turn.
    if (batch.some(({ id, thread_id: thread, turn_id: turn }) => turn !== (thread && id)))
      return rejection(422, { detail: 'a call that no thread shows' });
    if (!areDistinct(batch.map(({ id }) => id))) return rejection(422, { detail: 'an id stands twice' });
    return {
      reply: { status: 200, body: {} },
      stored: batch.map(({ attributes }) => generationIdOf(attributes['generation_id'])),
    };
  },
  failures: {
    unauthorized: { status: 401, body: { detail: 'Invalid API key' } },
    rateLimited: { status: 429, body: { detail: 'Rate limit exceeded' } },
    unavailable: { status: 503, body: 'upstream connect error' },
  },
  partial: null,
};
