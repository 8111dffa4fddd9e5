// GET /search. Contract: docs/contract.md#search.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestAccount, TestApp } from '../../support/app/app.js';
import { recordGenerations } from '../../support/deliveries/deliveries.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { expectError } from '../../support/requests/error-shape.js';
import { recordRefusals } from '../../support/requests/refusals.js';

interface Result extends Readonly<Record<string, unknown>> {
  readonly type: string;
  readonly matched_by: string;
  readonly id: string;
}

const HOUR = 3_600_000;
const SHARED = {
  requestId: 'request-shared',
  upstreamId: 'chatcmpl-shared',
  sessionId: 'session-shared',
  userId: 'user-shared',
};
const idOf = (uuid: string | undefined): string => `gen-${String(uuid).replaceAll('-', '')}`;

let app: TestApp;
let stranger: TestAccount;
let workspaceId: string;
let first: string;
let second: string;
let strangers: string;
beforeAll(async () => {
  app = await createTestApp();
  stranger = await app.createAccount();
  const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
    body: { name: 'Second', slug: 'second' },
  });
  workspaceId = data.id;
  const { record } = await app.createKey({ workspaceId, name: 'Search service' });
  const at = () => {
    app.clock.advance(HOUR);
    return { createdAt: app.clock.now() };
  };
  [strangers = ''] = await recordGenerations(app, 1, { ...SHARED, ...at() }, null, stranger.key);
  [first = ''] = await recordGenerations(app, 1, { ...SHARED, ...at() }, null);
  const failed = { status: 502, errorType: 'provider_unavailable', errorMessage: 'It is away.' };
  [second = ''] = await recordGenerations(
    app,
    1,
    { ...SHARED, ...failed, ...at(), workspaceId },
    null,
    record,
  );
  await recordGenerations(app, 2, { requestId: 'other', sessionId: 'other', ...at() }, null);
});
afterAll(() => app.close());

async function search(text: string, key = app.managementKey): Promise<readonly Result[]> {
  const path = `/search?q=${encodeURIComponent(text)}`;
  return (await askFor<{ data: Result[] }>(200, app, 'get', path, { key })).data;
}

const NOTHING = {
  api_key_hash: null,
  api_key_name: null,
  api_key_label: null,
  model: null,
  status: null,
  error_type: null,
  request_id: null,
  reason: null,
  message: null,
  newest_generation_id: null,
};

describe('200', () => {
  it.each([
    ['its header', () => idOf(second)],
    ['its UUID', () => second],
    ['its UUID in upper case between spaces', () => ` ${second.toUpperCase()} `],
    ['the id of an embeddings answer', () => `embd-${second.replaceAll('-', '')}`],
  ])('finds a call by %s, in any workspace', async (_title, text) => {
    expect(await search(text())).toEqual([
      {
        ...NOTHING,
        type: 'generation',
        matched_by: 'generation_id',
        id: idOf(second),
        workspace_id: workspaceId,
        created_at: '2026-11-18T15:00:00.000Z',
        api_key_hash: expect.stringMatching(/^[\da-f]{64}$/),
        api_key_name: 'Search service',
        model: 'openai/text-embedding-3-small',
        status: 502,
        error_type: 'provider_unavailable',
        request_id: 'request-shared',
        message: 'It is away.',
      },
    ]);
  });

  it.each([
    ['request-shared', 'request_id'],
    ['chatcmpl-shared', 'upstream_id'],
  ])('finds the calls of the account by %s, newest first', async (text, matchedBy) => {
    const results = await search(text);
    expect(results.map(({ type, matched_by, id }) => [type, matched_by, id])).toEqual([
      ['generation', matchedBy, idOf(second)],
      ['generation', matchedBy, idOf(first)],
    ]);
  });

  it.each(['session', 'user'])('finds a %s with its newest call in each workspace', async (type) => {
    const of = (id: string, at: string, workspace: string) => ({
      ...NOTHING,
      type,
      matched_by: `${type}_id`,
      id: `${type}-shared`,
      workspace_id: workspace,
      created_at: at,
      newest_generation_id: idOf(id),
    });
    expect(await search(`${type}-shared`)).toEqual([
      of(second, '2026-11-18T15:00:00.000Z', workspaceId),
      of(first, '2026-11-18T14:00:00.000Z', app.workspaceId),
    ]);
  });

  it('finds keys by a part of their name or label, and by their hash', async () => {
    const [key] = await search('SEARCH serv');
    expect(key).toMatchObject({ type: 'key', matched_by: 'key_name', workspace_id: workspaceId });
    expect(key).toMatchObject({ api_key_name: 'Search service', api_key_hash: key!.id });
    expect(await search(key!.id)).toEqual([{ ...key, matched_by: 'key_hash' }]);
    const label = String(key!['api_key_label']);
    expect(await search(label.toLowerCase())).toEqual([{ ...key, matched_by: 'key_label' }]);
  });

  it('finds no deleted key', async () => {
    const { record } = await app.createKey({ name: 'Retired' });
    expect(await search('retired')).toHaveLength(1);
    await askFor(200, app, 'delete', `/keys/${record.hash}`);
    expect(await search('retired')).toEqual([]);
  });

  it('finds a refused call by its request id', async () => {
    const { secret } = await app.createKey({ name: 'Careless' });
    await app.http
      .post('/api/v1/embeddings')
      .set('authorization', `Bearer ${secret}`)
      .set('x-request-id', 'refused-1')
      .send({ model: 'local/hashing' })
      .expect(400);
    await recordRefusals(app);
    expect(await search('refused-1')).toEqual([
      expect.objectContaining({
        type: 'refusal',
        matched_by: 'request_id',
        request_id: 'refused-1',
        reason: 'validation',
        api_key_name: 'Careless',
        message: expect.stringContaining('input'),
      }),
    ]);
  });

  it('answers at most 20 calls of one id, the newest', async () => {
    app.clock.advance(HOUR);
    const createdAt = app.clock.now();
    await recordGenerations(app, 25, { requestId: 'every-call', createdAt }, null);
    app.clock.advance(HOUR);
    const [newest] = await recordGenerations(
      app,
      1,
      { requestId: 'every-call', createdAt: app.clock.now() },
      null,
    );
    const results = await search('every-call');
    expect(results).toHaveLength(20);
    expect(results[0]!.id).toBe(idOf(newest));
  });

  it.each(['nothing has this', '%', "' OR true --", 'gen-', '019a960b-d800-7000-8000-000000000000'])(
    'answers an empty list for %s',
    async (text) => {
      expect(await search(text)).toEqual([]);
    },
  );

  it('never finds an object of another account', async () => {
    for (const text of [strangers, stranger.key.hash, stranger.key.label, idOf(strangers)])
      expect(await search(text)).toEqual([]);
    for (const text of Object.values(SHARED)) {
      const results = await search(text, stranger.managementKey);
      const found = results.map(({ id, newest_generation_id: newest }) => newest ?? id);
      expect(found).toEqual([idOf(strangers)]);
    }
    const texts = [first, second, workspaceId, 'Search service', 'refused-1', 'every-call', app.key.hash];
    for (const text of texts) expect(await search(text, stranger.managementKey)).toEqual([]);
  });
});

it.each([
  ['', /q: /],
  ['?q=', /q: must not be empty/],
  ['?q=%20', /q: must not be blank/],
  [`?q=${'a'.repeat(1_001)}`, /q: must have at most 1000 characters/],
  ['?q=a&q=b', /q: must be a string/],
  ['?q=a&type=key', /type: is not a member/],
  ['?q=%00', /q: /],
])('returns 400 for the query %s', async (query, message) => {
  expectError(await ask(app, 'get', `/search${query}`), 400, message);
});

it('returns 401 without a key', async () => {
  expectError(await app.http.get('/api/v1/search?q=a'), 401);
});

it('returns 403 for an inference key', async () => {
  expectError(await ask(app, 'get', '/search?q=a', { key: app.apiKey }), 403);
});
