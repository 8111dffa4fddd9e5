// GET /generation: the record of one call.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { GenerationLog } from '../../../src/persistence/generations/generation-log.js';
import type { TestApp } from '../../support/app/app.js';
import {
  answerOf,
  answerWithEmbeddings,
  embed,
  EMBEDDINGS,
  LOCAL,
  rejectWith,
  SMALL,
  startWithUpstream,
} from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { createChatGeneration } from '../../support/generations/chat-generation.js';
import { expectError } from '../../support/requests/error-shape.js';

const NOT_FOUND = 'Resource not found: no generation has this id';
const MALFORMED =
  'Invalid request parameters: id: must be the id of one generation: gen- or embd- and 32 hexadecimal digits, or a UUID';
const VECTOR = JSON.stringify(Array(1536).fill(0.5));

let setup: Setup;
let app: TestApp;
beforeAll(async () => {
  setup = await startWithUpstream({ PROVIDER_RETRIES: '0' });
  ({ app } = setup);
});
afterEach(() => setup.upstream.answerWith(null));
afterAll(() => setup.close());

async function get(id: string, credential: string | null = app.apiKey): Promise<Response> {
  const request = app.http.get(`/api/v1/generation?id=${id}`);
  return credential === null ? request : request.set('authorization', `Bearer ${credential}`);
}

async function dataOf(id: string): Promise<Record<string, unknown>> {
  const response = await get(id);
  expect(response.status).toBe(200);
  return (response.body as { data: Record<string, unknown> }).data;
}

const headerId = (response: Response): string => String(response.headers['x-generation-id']);
const uuidOf = (id: string): string => id.replace(/^\w+-(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
const createGeneration = async (key = app.apiKey): Promise<string> =>
  headerId(await embed(app, { model: LOCAL, input: 'x' }, key));

describe('200', () => {
  it('contains every member for a successful call', async () => {
    setup.upstream.answerWith(answerWithEmbeddings([VECTOR], { prompt_tokens: 7, total_tokens: 7 }));
    const served = await app.http
      .post(EMBEDDINGS)
      .set('authorization', `Bearer ${app.apiKey}`)
      .set({ 'user-agent': 'agent/1', referer: 'https://app.example', 'x-request-id': 'request-7' })
      .send({ model: SMALL, input: 'x', user: 'user-7', session_id: 'session-7' });
    expect(served.status).toBe(200);
    expect(await dataOf(headerId(served))).toEqual({
      id: headerId(served),
      created_at: '2026-11-18T12:00:00.000Z',
      model: SMALL,
      origin: 'https://app.example',
      is_byok: false,
      usage: 0.00000014,
      total_cost: 0.00000014,
      data_region: 'global',
      status: 200,
      error_type: null,
      error_message: null,
      api_type: 'embeddings',
      provider_name: 'OpenAI',
      latency: expect.any(Number),
      generation_time: expect.any(Number),
      moderation_latency: null,
      finish_reason: null,
      native_finish_reason: null,
      streamed: false,
      cancelled: false,
      tokens_prompt: 7,
      tokens_completion: 0,
      native_tokens_prompt: 7,
      native_tokens_completion: 0,
      native_tokens_completion_images: null,
      native_tokens_reasoning: null,
      native_tokens_cached: null,
      native_tokens_cache_write: null,
      time_to_first_token: null,
      usage_source: null,
      overrun: null,
      cost_parts: null,
      catalogue_version: 0,
      guardrails: null,
      price_effective_from: '2024-01-25',
      price_source: 'catalogue',
      provider_wire: null,
      num_media_prompt: null,
      num_media_completion: null,
      num_input_audio_prompt: null,
      num_search_results: null,
      num_fetches: null,
      upstream_id: null,
      upstream_inference_cost: 0.00000014,
      cache_discount: null,
      app_id: null,
      external_user: 'user-7',
      http_referer: 'https://app.example',
      user_agent: 'agent/1',
      preset_id: null,
      preset: null,
      preset_version: null,
      search_units: null,
      top_n: null,
      router: null,
      service_tier: null,
      web_search_engine: null,
      workspace_id: app.workspaceId,
      api_key_hash: app.key.hash,
      session_id: 'session-7',
      request_id: 'request-7',
      requested_model: null,
      response_cache_source_id: null,
      provider_responses: [
        {
          provider_name: 'OpenAI',
          endpoint_id: 'openai/text-embedding-3-small',
          status: 200,
          latency: expect.any(Number),
          model_permaslug: SMALL,
        },
      ],
    });
  });

  it('contains the facts of a chat', async () => {
    const key = (await app.createKey()).record;
    const chat = createChatGeneration(key, {
      createdAt: app.clock.now(),
      upstreamId: 'chatcmpl-1',
      chat: {
        mediaCount: 2,
        audioCount: 1,
        overrun: 5_000_000n,
        providerWire: 'messages',
        cacheWriteTokens: 100,
        cacheWrite1hTokens: 60,
        cacheWriteCost: 50_000_000n,
        cacheWrite1hCost: 40_000_000n,
      },
      attempts: [
        {
          provider: 'azure',
          endpoint: 'azure/gpt',
          status: 429,
          errorType: 'rate_limit_exceeded',
          durationMs: 3,
          model: 'openai/gpt-4.1',
        },
        {
          provider: 'openai',
          endpoint: 'openai/gpt-4.1-mini',
          status: 200,
          errorType: null,
          durationMs: 40,
          isByok: false,
          upstreamId: 'chatcmpl-1',
          droppedMembers: ['messages.content.thinking'],
        },
      ],
    });
    await app.application.get(GenerationLog).append(chat);
    const response = await get(chat.id, app.managementKey);
    expect(response.body).toMatchObject({
      data: {
        api_type: 'completions',
        model: 'openai/gpt-4.1-mini',
        streamed: true,
        cancelled: false,
        finish_reason: 'stop',
        native_finish_reason: 'stop',
        time_to_first_token: 120,
        tokens_prompt: 1_000,
        tokens_completion: 40,
        native_tokens_prompt: 1_000,
        native_tokens_completion: 40,
        native_tokens_reasoning: 30,
        native_tokens_cached: 800,
        native_tokens_cache_write: null,
        native_tokens_completion_images: null,
        num_media_prompt: 2,
        num_media_completion: 0,
        num_input_audio_prompt: 1,
        usage: 0.000224,
        total_cost: 0.000224,
        cache_discount: 0.00024,
        usage_source: 'reported',
        overrun: 0.000005,
        provider_wire: 'messages',
        cost_parts: [
          { part: 'prompt', tokens: 100, cost: 0.00003 },
          { part: 'cached', tokens: 800, cost: 0.00008 },
          { part: 'cache_write', tokens: 40, cost: 0.00001 },
          { part: 'cache_write_1h', tokens: 60, cost: 0.00004 },
          { part: 'completion', tokens: 10, cost: 0.000016 },
          { part: 'reasoning', tokens: 30, cost: 0.000048 },
        ],
        service_tier: 'default',
        provider_responses: [
          { provider_name: 'Azure OpenAI', status: 429, latency: 3, model_permaslug: 'openai/gpt-4.1' },
          {
            provider_name: 'OpenAI',
            is_byok: false,
            id: 'chatcmpl-1',
            edits: ['messages.content.thinking'],
            model_permaslug: 'openai/gpt-4.1-mini',
          },
        ],
      },
    });
  });

  it('has null for tokens of a chat that no provider reported', async () => {
    const key = (await app.createKey()).record;
    const chat = createChatGeneration(key, {
      createdAt: app.clock.now(),
      status: 499,
      chat: { usageSource: 'counted', reportedTokens: null, isCancelled: true, finishReason: null },
    });
    await app.application.get(GenerationLog).append(chat);
    expect((await get(chat.id, app.managementKey)).body).toMatchObject({
      data: {
        cancelled: true,
        finish_reason: null,
        tokens_completion: 40,
        native_tokens_prompt: null,
        native_tokens_completion: null,
        usage_source: 'counted',
      },
    });
  });

  it('describes a failed call', async () => {
    setup.upstream.answerWith(rejectWith(500, { error: { message: 'broken' } }));
    const failed = await embed(app, { model: SMALL, input: 'x' });
    expect(failed.status).toBe(502);
    expect(await dataOf(headerId(failed))).toMatchObject({
      status: 502,
      error_type: 'provider_unavailable',
      usage: 0,
      provider_name: 'OpenAI',
      provider_responses: [{ status: 500 }],
    });
  });

  it('is found by every form of its id', async () => {
    const served = await embed(app, { model: LOCAL, input: 'x' });
    const expected = await dataOf(headerId(served));
    const uuid = uuidOf(headerId(served));
    expect(await dataOf(answerOf(served).id)).toEqual(expected);
    expect(await dataOf(uuid)).toEqual(expected);
    expect(await dataOf(uuid.toUpperCase())).toEqual(expected);
  });

  it('is returned to a management key for every workspace, to an inference key for its own calls', async () => {
    const workspaceId = '01990000-0000-7000-8000-000000000001';
    await app.sql(`INSERT INTO workspaces (id, account_id, name, slug) VALUES ($1, $2, 'Other', 'other')`, [
      workspaceId,
      app.accountId,
    ]);
    const other = await app.createKey({ workspaceId });
    const ids = [await createGeneration(), await createGeneration(other.secret)];
    for (const id of ids) expect((await get(id, app.managementKey)).status).toBe(200);
    const [own = '', others = ''] = ids;
    expect((await get(own, app.apiKey)).status).toBe(200);
    expectError(await get(others, app.apiKey), 404, NOT_FOUND);
    expect((await get(others, other.secret)).status).toBe(200);
    expectError(await get(own, other.secret), 404, NOT_FOUND);
  });

  it('is found in one partition by the primary key, for any number of calls', async () => {
    const id = uuidOf(await createGeneration());
    // So many calls of other times that the database prefers its index.
    await app.sql(
      `INSERT INTO generations SELECT (jsonb_populate_record(generation, jsonb_build_object(
         'id', gen_random_uuid(), 'created_at', generation.created_at + number * interval '1 second'))).*
       FROM generations AS generation, generate_series(1, 2000) AS number WHERE id = $1`,
      [id],
    );
    await app.sql('ANALYZE generations');
    expect((await get(id)).status).toBe(200);
    const rows = await app.sql<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT * FROM generations WHERE workspace_id IN ('${app.workspaceId}', '${app.accountId}')
       AND created_at = '2026-11-18T12:00:00.000Z' AND id = '${id}'`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan.match(/ on generations_\w+/g)).toHaveLength(1);
    expect(plan).toMatch(/Index Scan using generations_2026_11_18_pkey/);
  });
});

describe('400', () => {
  it('is returned without an id, and with two', async () => {
    const id = await createGeneration();
    expectError(await get(''), 400, MALFORMED);
    expectError(await get(`${id}&id=${id}`), 400, MALFORMED);
  });
});

describe('401', () => {
  it('is returned without a credential, and for an unknown one', async () => {
    const id = await createGeneration();
    expectError(await get(id, null), 401, 'Missing Authentication header');
    expectError(await get(id, 'wrong'), 401, 'Invalid credentials');
  });
});

describe('404', () => {
  it.each([
    ['of no call', 'gen-019a960bd80070008000000000000000'],
    ['of another version', 'gen-019a960bd80040008000000000000000'],
    ['of all zeros', '00000000-0000-0000-0000-000000000000'],
    ['of the end of time', `embd-ffffffffffff7${'f'.repeat(19)}`],
    ['of another form', 'gen-does-not-exist'],
    ['without digits', 'gen-'],
    ['with too few digits', 'gen-0'],
    ['with another prefix', `x-${'0'.repeat(32)}`],
    ['without a prefix', '0'.repeat(32)],
    ['with hostile text', "'%20OR%201=1"],
    ['with NUL', '%00'],
  ])('is returned for an id %s', async (_name, id) => {
    expectError(await get(id), 404, NOT_FOUND);
  });

  it('is the same for a call of another account as for an unknown id', async () => {
    const id = await createGeneration();
    const other = await app.createAccount();
    for (const key of [other.apiKey, other.managementKey]) expectError(await get(id, key), 404, NOT_FOUND);
  });
});

describe('429', () => {
  it('counts these requests toward the minute of the key', async () => {
    const limited = await startWithUpstream({ RATE_LIMIT_MANAGEMENT_PER_MINUTE: '1' });
    try {
      const ask = async (): Promise<Response> =>
        limited.app.http
          .get(`/api/v1/generation?id=gen-019a960bd80070008000000000000000`)
          .set('authorization', `Bearer ${limited.app.managementKey}`);
      expect((await ask()).status).toBe(404);
      expectError(await ask(), 429, /^Rate limit exceeded: /);
    } finally {
      await limited.close();
    }
  });
});
