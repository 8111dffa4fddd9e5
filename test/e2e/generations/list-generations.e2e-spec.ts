// GET /generations. Contract: docs/contract.md#generations.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp, TestKey } from '../../support/app/app.js';
import { recordGenerations } from '../../support/deliveries/deliveries.js';
import { expectError } from '../../support/requests/error-shape.js';

interface Page {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly next_cursor: string | null;
  readonly searched_until: string | null;
}

const HOUR = 3_600_000;
const MODEL = 'openai/text-embedding-3-small';
const idOf = (uuid: string | undefined): string => `gen-${String(uuid).replaceAll('-', '')}`;

let app: TestApp;
let other: TestKey;
/** Oldest first. */
let ids: string[];
beforeAll(async () => {
  app = await createTestApp();
  other = await app.createKey({ name: 'Other' });
  const record = async (overrides: object, key = app.key): Promise<string> => {
    app.clock.advance(HOUR);
    return idOf((await recordGenerations(app, 1, overrides, null, key))[0]);
  };
  ids = [
    await record({ sessionId: 'session-1', userId: 'user-1', requestId: 'request-1' }),
    await record({ status: 404, errorType: 'not_found', provider: null, endpoint: null, dimensions: null }),
    await record({ status: 502, errorType: 'provider_unavailable', dimensions: null }, other.record),
    await record({ model: 'cohere/embed-v4.0', provider: 'cohere', userId: 'user-2' }, other.record),
    await record({ status: 529, sessionId: 'session-1', errorType: 'provider_overloaded', dimensions: null }),
    await record({ operation: 'chat', provider: 'google', model: 'gone/model' }),
  ];
});
afterAll(() => app.close());

const list = (query = ''): Promise<Page> => askFor<Page>(200, app, 'get', `/generations${query}`);
const listed = async (query: string): Promise<unknown[]> => (await list(query)).data.map(({ id }) => id);

describe('200', () => {
  it('lists all members of a call, and no text of it', async () => {
    const { data } = await list('?session_id=session-1&status=200');
    expect(data).toEqual([
      {
        id: ids[0],
        created_at: '2026-11-18T13:00:00.000Z',
        workspace_id: app.workspaceId,
        api_key_hash: app.key.hash,
        api_key_name: 'Test key',
        model: MODEL,
        provider: 'openai',
        provider_name: 'OpenAI',
        endpoint_id: MODEL,
        api_type: 'embeddings',
        status: 200,
        error_type: null,
        error_message: null,
        attempts: 0,
        input_count: 1,
        tokens_prompt: 1,
        tokens_completion: 0,
        tokens_total: 1,
        finish_reason: null,
        streamed: false,
        cancelled: false,
        dimensions: 1536,
        usage: 0,
        upstream_inference_cost: 0,
        is_byok: false,
        latency: 1,
        generation_time: 1,
        external_user: 'user-1',
        session_id: 'session-1',
        request_id: 'request-1',
        data_region: 'global',
      },
    ]);
  });

  it('lists the newest first', async () => {
    expect(await list()).toMatchObject({
      data: ids.toReversed().map((id) => ({ id })),
      next_cursor: null,
      searched_until: null,
    });
  });

  it.each([
    ['api_key_hash={other}', [3, 2]],
    ['model=openai/text-embedding-3-small', [4, 2, 1, 0]],
    ['model=text-embedding-3-small', [4, 2, 1, 0]],
    ['model=gone/model', [5]],
    ['model=unknown', []],
    ['provider=cohere', [3]],
    ['provider=google-ai-studio', [5]],
    ['provider=unknown', []],
    ['api_type=embeddings', [4, 3, 2, 1, 0]],
    ['api_type=completions', [5]],
    ['api_type=completions&status=error', []],
    ['api_type=embeddings&user_id=user-2', [3]],
    ['status=200', [5, 3, 0]],
    ['status=2xx', [5, 3, 0]],
    ['status=404', [1]],
    ['status=4xx', [1]],
    ['status=5xx', [4, 2]],
    ['status=error', [4, 2, 1]],
    ['status=418', []],
    ['session_id=session-1', [4, 0]],
    ['session_id=none', []],
    ['error_type=provider_overloaded', [4]],
    ['request_id=request-1', [0]],
    ['request_id=request&status=error', [4, 2, 1]],
    ['request_id=request-1&status=error', []],
    ['user_id=user-2', [3]],
    ['user_id=user-1&session_id=session-1', [0]],
    ['session_id=session-1&status=error', [4]],
    ['status=error&api_key_hash={other}', [2]],
    ['model=cohere/embed-v4.0&api_key_hash={other}&provider=cohere&status=200', [3]],
    ['from=2026-11-18T15:00:00Z', [5, 4, 3, 2]],
    ['to=2026-11-18T15:00:00Z', [1, 0]],
    ['from=2026-11-18T14:00:00Z&to=2026-11-18T15:00:00Z', [1]],
    ['from=2026-11-18T14:00:00Z&to=2026-11-18T15:00:00Z&provider=openai', []],
    ['workspace_id={workspace}', [5, 4, 3, 2, 1, 0]],
  ])('filters by %s', async (query, expected) => {
    const filled = query.replace('{other}', other.record.hash).replace('{workspace}', app.workspaceId);
    expect(await listed(`?${filled}`)).toEqual(expected.map((index) => ids[index]));
  });

  it.each(['', '&status=error', '&session_id=session-1', '&model=text-embedding-3-small'])(
    'pages by cursor without gaps or repetitions%s',
    async (filter) => {
      const expected = await listed(`?limit=100${filter}`);
      const found: unknown[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: Page = await list(`?limit=1${filter}${cursor === '' ? '' : `&cursor=${cursor}`}`);
        expect(page.data.length).toBe(1);
        found.push(...page.data.map(({ id }) => id));
        cursor = page.next_cursor;
      }
      expect(found).toEqual(expected);
    },
  );

  it('a page is not changed by later calls', async () => {
    const first = await list('?limit=2');
    const { record } = await app.createKey();
    await recordGenerations(app, 1, { createdAt: app.clock.now(), model: 'later' }, null, record);
    const second = await listed(`?limit=2&cursor=${first.next_cursor}`);
    expect(second).toEqual([ids[3], ids[2]]);
    await app.sql("DELETE FROM generations WHERE model = 'later'");
  });

  it('takes the workspace of the key, and the hash of any valid secret', async () => {
    const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
      body: { name: 'Second', slug: 'second' },
    });
    const { record } = await app.createKey({ workspaceId: data.id });
    const [id] = await recordGenerations(app, 1, { workspaceId: data.id }, null, record);
    expect(await listed(`?api_key_hash=${record.hash}`)).toEqual([idOf(id)]);
    expect(await listed(`?workspace_id=${data.id}`)).toEqual([idOf(id)]);
    expect(await listed(`?workspace_id=${app.workspaceId}&api_key_hash=${record.hash}`)).toEqual([]);
  });
});

it.each([
  ['unknown=1', /unknown: is not a member/],
  ['limit=0', /limit: must be from 1 to 100/],
  ['limit=101', /limit: must be from 1 to 100/],
  ['api_type=chat', /api_type: must be one of embeddings, completions/],
  ['api_type=', /api_type: must be one of/],
  ['status=600', /status: must be a status/],
  ['status=3xx', /status: must be a status/],
  ['from=yesterday', /from: must be a time in UTC/],
  ['to=2026-11-18', /to: must be a time in UTC/],
  ['cursor=other', /cursor: must be the next_cursor of a page/],
  ['api_key_hash=short', /api_key_hash: must be 64/],
  ['workspace_id=1', /workspace_id: must be a UUID/],
  ['workspace_id=019a960b-d800-7000-8000-000000000000', /workspace_id/],
  ['session_id=a&session_id=b', /session_id: must be a string/],
])('returns 400 for %s', async (query, message) => {
  expectError(await ask(app, 'get', `/generations?${query}`), 400, message);
});

it('returns 401 without a key', async () => {
  expectError(await app.http.get('/api/v1/generations'), 401);
});

it('returns 403 for an inference key', async () => {
  expectError(await ask(app, 'get', '/generations', { key: app.apiKey }), 403);
});

it('returns 404 for the hash of no key of the account', async () => {
  const stranger = await app.createAccount();
  for (const hash of [stranger.key.hash, 'a'.repeat(64)])
    expectError(await ask(app, 'get', `/generations?api_key_hash=${hash}`), 404, /no key has this hash/);
});

describe('all_workspaces', () => {
  it('lists the calls of all workspaces of the account, newest first, page by page', async () => {
    const account = await app.createAccount();
    const own = { key: account.managementKey };
    const created = await ask(app, 'post', '/workspaces', {
      ...own,
      body: { name: 'Second', slug: 'second' },
    });
    const { record } = await app.createKey({
      accountId: account.accountId,
      workspaceId: created.body.data.id,
    });
    const expected: string[] = [];
    for (const key of [account.key, record, record, account.key, record]) {
      app.clock.advance(1_000);
      expected.unshift(idOf((await recordGenerations(app, 1, {}, null, key))[0]));
    }
    const read = async (query: string): Promise<Page> =>
      askFor<Page>(200, app, 'get', `/generations?all_workspaces=true&${query}`, own);
    expect((await read('limit=50')).data.map(({ id }) => id)).toEqual(expected);
    const seen: unknown[] = [];
    let cursor = '';
    for (let pages = 0; pages < 4; pages += 1) {
      const page = await read(`limit=2${cursor}`);
      seen.push(...page.data.map(({ id }) => id));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(seen).toEqual(expected);
    // A key has calls in its own workspace alone.
    const ofKey = await read(`api_key_hash=${record.hash}`);
    expect(ofKey.data).toHaveLength(3);
    expect(await listed('?all_workspaces=true')).toEqual(expect.arrayContaining(ids));
    expect(await listed('?all_workspaces=true')).not.toContain(expected[0]);
  });
});
