// POST /embeddings: every call that reached routing is recorded once, before its response is sent.
import { request as httpRequest } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
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
import { eventually } from '../../support/eventually.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';
import type { StubHandler } from '../../support/upstreams/stub-upstream.js';

interface GenerationRow {
  readonly status: number;
  readonly error_type: string | null;
  readonly cost: string;
  readonly session_id: string | null;
  readonly user_id: string | null;
  readonly trace: unknown;
  readonly request_context: unknown;
  readonly attempts: unknown;
}

let setup: Setup;
beforeAll(async () => {
  setup = await startWithUpstream();
});
afterEach(() => {
  // A rejected credential rests for a minute at most.
  setup.app.clock.advance(60_000);
  setup.upstream.answerWith(null);
  setup.upstream.requests.length = 0;
});
afterAll(() => setup.close());

/** The rows of a call at the moment of its response. */
async function rowsOf(response: Response): Promise<GenerationRow[]> {
  const id = /^gen-([0-9a-f]{32})$/.exec(String(response.headers['x-generation-id']))?.[1];
  return setup.app.sql<GenerationRow & { id: string }>('SELECT * FROM generations WHERE id = $1::uuid', [id]);
}

async function countRows(): Promise<number> {
  const [row] = await setup.app.sql<{ count: string }>('SELECT count(*) FROM generations');
  return Number(row!.count);
}

describe('the record of a call', () => {
  it('contains every fact except the content', async () => {
    setup.upstream.answerWith((_request, response) =>
      sendJson(response, 200, {
        id: 'upstream-1',
        data: [0, 1].map((index) => ({ index, embedding: [1, 2] })),
        usage: { prompt_tokens: 7, total_tokens: 8 },
      }),
    );
    const response = await embed(setup.app, {
      model: SMALL,
      input: ['the first text', 'the second text'],
      dimensions: 2,
      encoding_format: 'base64',
      input_type: 'search_query',
      user: 'user-1 \u{1f600}',
      session_id: 'session-1',
      trace: { trace_id: 't-1', custom: { a: [1, 'x'] } },
    })
      .set('x-request-id', 'request-1')
      .set('x-session-id', 'another')
      .set('user-agent', 'agent/1')
      .set('http-referer', 'https://app.test')
      .set('x-openrouter-title', 'My app');
    const { id } = answerOf(response);
    const rows = await rowsOf(response);
    expect(rows).toEqual([
      expect.objectContaining({
        id: id.replace(/^embd-(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
        workspace_id: setup.app.workspaceId,
        account_id: setup.app.accountId,
        api_key_id: setup.app.key.id,
        created_at: setup.app.clock.now(),
        operation: 'embeddings',
        model: SMALL,
        endpoint: 'openai/text-embedding-3-small',
        provider: 'openai',
        upstream_id: 'upstream-1',
        status: 200,
        error_type: null,
        input_count: 2,
        prompt_tokens: 7,
        total_tokens: 8,
        cost: '0.000000140000',
        upstream_cost: '0.000000140000',
        is_byok: false,
        dimensions: 2,
        encoding_format: 'base64',
        input_type: 'search_query',
        duration_ms: expect.any(Number),
        upstream_ms: expect.any(Number),
        user_id: 'user-1 \u{1f600}',
        session_id: 'session-1',
        request_id: 'request-1',
        trace: { trace_id: 't-1', custom: { a: [1, 'x'] } },
        request_context: { userAgent: 'agent/1', referer: 'https://app.test', title: 'My app' },
        // The rest of the row describes the only attempt.
        attempts: [],
      }),
    ]);
    expect(JSON.stringify(rows)).not.toContain('first text');
  });

  it('has the session of the header when the body names none', async () => {
    const response = await embed(setup.app, { model: LOCAL, input: 'a' }).set('x-session-id', 'from-header');
    expect(await rowsOf(response)).toMatchObject([{ session_id: 'from-header' }]);
  });

  it('exists exactly once when the call succeeds', async () => {
    const before = await countRows();
    for (const model of [LOCAL, SMALL]) {
      expect(await rowsOf(await embed(setup.app, { model, input: 'a' }))).toHaveLength(1);
    }
    expect(await countRows()).toBe(before + 2);
  });

  it.each([
    [400, 'invalid_request', rejectWith(422, { error: { message: 'No.' } })],
    [413, 'payload_too_large', rejectWith(413, {})],
    [502, 'provider_unavailable', rejectWith(401, {})],
    [502, 'provider_unavailable', rejectWith(500, {})],
    [502, 'provider_unavailable', answerWithEmbeddings(['[1,2,3]'])],
    [502, 'provider_unavailable', rejectWith(200, '{"data":')],
    [502, 'provider_unavailable', (_request, response) => void response.socket?.resetAndDestroy()],
    [524, 'timeout', rejectWith(504, {})],
    [429, 'rate_limit_exceeded', rejectWith(429, {}, { 'retry-after': '90' })],
    [529, 'provider_overloaded', rejectWith(503, {}, { 'retry-after': '90' })],
  ] satisfies [number, string, StubHandler][])(
    'exists exactly once when the provider causes a %d (%s), and costs nothing',
    async (status, errorType, handler) => {
      const before = await countRows();
      setup.upstream.answerWith(handler);
      const response = await embed(setup.app, { model: SMALL, input: 'a' });
      expect(response.status).toBe(status);
      expect(await rowsOf(response)).toMatchObject([
        { status, error_type: errorType, cost: '0.000000000000', provider: 'openai', dimensions: null },
      ]);
      expect(await countRows()).toBe(before + 1);
    },
  );

  it.each([
    ['the provider', { PROVIDER_TIMEOUT_MS: '150' }, 524],
    ['the whole operation', { OPERATION_DEADLINE_MS: '150' }, 408],
  ])('exists exactly once when %s is overdue', async (_name, environment, status) => {
    const hasty = await startWithUpstream(environment);
    try {
      hasty.upstream.answerWith(() => undefined);
      const response = await embed(hasty.app, { model: SMALL, input: 'a' });
      const rows = await hasty.app.sql<{ status: number }>('SELECT status FROM generations');
      expect({ answered: response.status, rows }).toEqual({ answered: status, rows: [{ status }] });
    } finally {
      await hasty.close();
    }
  });

  it('does not exist when the call did not reach routing', async () => {
    const before = await countRows();
    const { secret } = await setup.app.createKey({ limit: 0n });
    const rejected = [
      await embed(setup.app, { model: SMALL, input: 'a' }, 'sk-sb-v1-unknown'),
      await embed(setup.app, { model: SMALL, input: 'a' }, setup.app.managementKey),
      await embed(setup.app, { model: SMALL, input: 'a' }, secret),
      await embed(setup.app, { model: 'openai/unknown', input: 'a' }),
      await embed(setup.app, { model: SMALL, input: '' }),
      await embed(setup.app, '{"model":'),
    ];
    expect(rejected.map(({ status }) => status)).toEqual([401, 401, 402, 404, 400, 400]);
    expect(await countRows()).toBe(before);
  });

  it('has the cost of the text when the upstream reports none, with special tokens counted as letters', async () => {
    setup.upstream.answerWith(answerWithEmbeddings(['[1]'], {}));
    const response = await embed(setup.app, { model: SMALL, input: '<|endoftext|>', dimensions: 1 });
    expect(response.status).toBe(200);
    expect(await rowsOf(response)).toMatchObject([{ prompt_tokens: 7, cost: '0.000000140000' }]);
  });

  it('exists when the caller disconnected before the response', async () => {
    const before = await countRows();
    const arrival = new Promise<() => void>((resolve) =>
      setup.upstream.answerWith((_request, response) =>
        resolve(() => sendJson(response, 200, { data: [{ index: 0, embedding: [1] }], usage: {} })),
      ),
    );
    const caller = httpRequest(`${setup.app.origin}${EMBEDDINGS}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${setup.app.apiKey}`, 'content-type': 'application/json' },
    });
    caller.on('error', () => undefined);
    const hungUp = new Promise((resolve) => caller.on('close', resolve));
    caller.end(JSON.stringify({ model: SMALL, input: 'a', dimensions: 1 }));
    const answer = await arrival;
    caller.destroy();
    await hungUp;
    answer();
    await eventually(countRows, (count) => count === before + 1);
  });
});

describe('unusual text', () => {
  const ask = (members: object, headers: Readonly<Record<string, string>> = {}) =>
    embed(setup.app, { model: LOCAL, input: 'a', dimensions: 8, ...members }).set(headers);

  it('is rejected when it cannot be stored, without an effect on concurrent calls', async () => {
    const odd = [
      { user: 'a\u0000' },
      { user: '\ud800' },
      { session_id: '\udc00b' },
      { input_type: '\u0000' },
      { trace: { a: '\u0000' } },
      { trace: { '\ud800': 1 } },
    ];
    const before = await countRows();
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_value, index) => ask(index % 2 ? {} : odd[(index / 2) % odd.length]!)),
    );
    const expected = responses.map((_response, index) => (index % 2 ? 200 : 400));
    expect(responses.map(({ status }) => status)).toEqual(expected);
    expect(await countRows()).toBe(before + 30);
  });

  it('is stored unchanged when that is possible', async () => {
    const members = {
      user: 'tab\t "quote" \\u0000 \\ud800 \u{1f600} \u0001',
      session_id: '',
      trace: { '': null, '\\u0000': ['\\ud800', -0.5, 1e300, true], ['x'.repeat(300)]: { deep: [[[[{}]]]] } },
    };
    const response = await ask(members);
    expect(response.status).toBe(200);
    expect(await rowsOf(response)).toMatchObject([
      { user_id: members.user, session_id: members.session_id, trace: members.trace },
    ]);
  });

  it('in headers is cut and never fails the call', async () => {
    const headers = {
      'x-session-id': '\u00e9\u00ff '.repeat(400).trim(),
      'user-agent': `\u0080${'x'.repeat(4000)}`,
      'http-referer': '\u00ad',
    };
    const response = await ask({}, headers);
    expect(response.status).toBe(200);
    const [row] = await rowsOf(response);
    expect(row!.session_id).toHaveLength(256);
    const { userAgent } = row!.request_context as { userAgent: string };
    expect(userAgent).toHaveLength(256);
  });

  it("in the upstream's id and counts never fails the call", async () => {
    setup.upstream.answerWith((_request, response) =>
      sendJson(response, 200, {
        id: 'a\u0000\ud800',
        data: [{ index: 0, embedding: [1] }],
        usage: { prompt_tokens: 1e300, total_tokens: -1 },
      }),
    );
    const response = await embed(setup.app, { model: SMALL, input: 'a', dimensions: 1 });
    expect(response.status).toBe(200);
    expect(await rowsOf(response)).toMatchObject([{ status: 200, upstream_id: null }]);
  });
});
