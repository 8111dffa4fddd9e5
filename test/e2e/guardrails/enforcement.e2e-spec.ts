// Guardrails in calls: models, providers and regions, whatever name, wire or preference a caller uses.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { defaultGuardrailId } from '../../../src/domain/guardrails/guardrail.js';
import type { TestApp } from '../../support/app/app.js';
import { recordStatements } from '../../support/database/statements.js';
import { eventually } from '../../support/eventually.js';
import { CLAUDE, OPEN_MODEL, startMessagesApp } from '../../support/messages/messages-app.js';
import type { MessagesApp } from '../../support/messages/messages-app.js';
import { askFor } from '../../support/requests/admin.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';

type Members = Readonly<Record<string, unknown>>;
interface Key {
  readonly secret: string;
  readonly hash: string;
  readonly workspaceId: string;
}
interface Answer {
  readonly status: number;
  readonly body: { readonly error: { readonly message: string; readonly metadata: Members } };
}

const HI = [{ role: 'user', content: 'hi' }];
const REFUSAL = 'No allowed providers are available for the selected model.';

let setup: MessagesApp;
let app: TestApp;
let workspaces = 0;
beforeAll(async () => {
  setup = await startMessagesApp({ RATE_LIMIT_CHANGES_PER_MINUTE: '10000' });
  ({ app } = setup);
});
beforeEach(() => {
  setup.anthropic.requests.length = 0;
  setup.chat.requests.length = 0;
  setup.chat.answerWith(null);
});
afterAll(() => setup?.close());

/** In a workspace of its own. */
async function createKey(creatorUserId: string | null = null): Promise<Key> {
  const slug = `governed-${++workspaces}`;
  const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
    body: { name: slug, slug },
  });
  const { secret, record } = await app.createKey({ workspaceId: data.id, creatorUserId });
  return { secret, hash: record.hash, workspaceId: data.id };
}

/** Assigned to the key. */
async function govern({ hash, workspaceId }: Key, rules: Members): Promise<string> {
  const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/guardrails', {
    body: { name: 'Strict', workspace_id: workspaceId, ...rules },
  });
  await askFor(200, app, 'post', `/guardrails/${data.id}/assignments/keys`, { body: { key_hashes: [hash] } });
  return data.id;
}

async function post({ secret }: Key, path: string, body: Members, at = app): Promise<Answer> {
  const response = await fetch(`${at.baseUrl}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}
const chat = (key: Key, members: Members, at = app) =>
  post(key, 'chat/completions', { messages: HI, max_tokens: 10, ...members }, at);
const sent = (): number => setup.anthropic.requests.length + setup.chat.requests.length;

const untilStatus = (key: Key, model: string, wanted: number, at = app): Promise<Answer> =>
  eventually(
    () => chat(key, { model }, at),
    ({ status }) => status === wanted,
  );

/** Whose guardrail is in force; it does not permit `local/echo`. */
const governed = async (rules: Members): Promise<Key> => {
  const key = await createKey();
  await govern(key, rules);
  await untilStatus(key, 'local/echo', 404);
  return key;
};

describe('a guardrail of models', () => {
  it.each([
    ['chat/completions', { messages: HI }],
    ['messages', { messages: HI, max_tokens: 10 }],
    ['messages/count_tokens', { messages: HI }],
    ['responses', { input: 'hi' }],
  ])('a model outside of its list is refused by POST /%s, and nothing is sent', async (path, body) => {
    const key = await governed({ allowed_models: [OPEN_MODEL] });
    const refused = await post(key, path, { ...body, model: CLAUDE });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([404, expect.stringContaining(REFUSAL)]);
    expect(JSON.stringify(refused.body)).toContain('excluded by guardrail Strict');
    expect(sent()).toBe(0);
    expect((await post(key, path, { ...body, model: OPEN_MODEL })).status).toBe(200);
  });

  it('names, aliases and variants of a model are compared by the id that they resolve to', async () => {
    const key = await governed({ allowed_models: ['open-model'] });
    for (const model of [OPEN_MODEL, 'open-model', `${OPEN_MODEL}:nitro`, 'open-model:floor'])
      expect([model, (await chat(key, { model })).status]).toEqual([model, 200]);
    const count = sent();
    for (const model of [CLAUDE, 'claude', `${CLAUDE}:nitro`])
      expect([model, (await chat(key, { model })).status]).toEqual([model, 404]);
    expect(sent()).toBe(count);
  });

  it.each(['.*', 'in-house/.*', '*'])('a pattern like %s names no model for a call (V3)', async (model) => {
    const key = await governed({ allowed_models: [OPEN_MODEL] });
    const free = await createKey();
    const [refused, unknown] = [await chat(key, { model }), await chat(free, { model })];
    expect([400, 404]).toContain(refused.status);
    expect(refused).toEqual(unknown);
    expect(sent()).toBe(0);
  });

  it('null allows all models, and an empty list of allowed ones is refused by its name (V4)', async () => {
    const key = await createKey();
    const id = await govern(key, { allowed_models: [OPEN_MODEL] });
    await untilStatus(key, CLAUDE, 404);
    const { error } = await askFor<Answer['body']>(400, app, 'patch', `/guardrails/${id}`, {
      body: { allowed_models: [] },
    });
    expect(error.message).toContain('allowed_models: must not be empty');
    expect((await chat(key, { model: CLAUDE })).status).toBe(404);
    await askFor(200, app, 'patch', `/guardrails/${id}`, { body: { allowed_models: null } });
    for (const model of [CLAUDE, OPEN_MODEL, 'local/echo']) await untilStatus(key, model, 200);
  });

  it('forbidden names of `models` are skipped, though the permitted one fails (V2)', async () => {
    const key = await governed({ allowed_models: [OPEN_MODEL] });
    expect((await chat(key, { models: [CLAUDE, OPEN_MODEL] })).status).toBe(200);
    setup.chat.answerWith((_request, response) => sendJson(response, 503, { error: { message: 'out' } }));
    expect((await chat(key, { models: [OPEN_MODEL, CLAUDE] })).status).toBe(529);
    setup.chat.answerWith(null);
    expect((await chat(key, { models: [CLAUDE] })).status).toBe(404);
    expect(setup.anthropic.requests).toHaveLength(0);
  });

  it('a model in both lists of a guardrail is refused (V5)', async () => {
    const key = await governed({ allowed_models: [OPEN_MODEL, CLAUDE], ignored_models: [CLAUDE] });
    expect((await chat(key, { model: CLAUDE })).status).toBe(404);
    expect((await chat(key, { model: OPEN_MODEL })).status).toBe(200);
  });

  it('embeddings and rerank calls are refused by the same lists', async () => {
    const key = await governed({ allowed_models: [OPEN_MODEL] });
    for (const [path, body] of [
      ['embeddings', { model: 'local/hashing', input: 'hi' }],
      ['rerank', { model: 'cohere/rerank-v3.5', query: 'hi', documents: ['hi'] }],
    ] as const) {
      const { status, body: answer } = await post(key, path, body);
      expect([path, status, answer.error.metadata]).toEqual([
        path,
        404,
        expect.objectContaining({
          error_type: 'not_found',
          guardrails: [{ id: expect.any(String), name: 'Strict', scope: 'api_key' }],
        }),
      ]);
    }
  });

  it('calls of the playground are governed by the guardrails of the key that pays', async () => {
    const key = await governed({ allowed_models: [OPEN_MODEL] });
    for (const [path, body] of [
      ['chat/completions', { model: CLAUDE, messages: HI }],
      ['embeddings', { model: 'local/hashing', input: 'hi' }],
    ] as const) {
      const response = await app.http
        .post(`/console/playground/${path}?api_key_hash=${key.hash}`)
        .set('authorization', `Bearer ${app.managementKey}`)
        .send(body);
      expect([path, response.status]).toEqual([path, 404]);
    }
    expect(sent()).toBe(0);
  });

  it('GET /models/user lists what guardrails leave (V6)', async () => {
    const key = await governed({ allowed_models: [OPEN_MODEL, CLAUDE], ignored_providers: ['anthropic'] });
    const { data } = await askFor<{ data: readonly { readonly id: string }[] }>(
      200,
      app,
      'get',
      '/models/user',
      {
        key: key.secret,
      },
    );
    expect(data.map(({ id }) => id)).toEqual([OPEN_MODEL]);
  });
});

describe('a guardrail of providers', () => {
  it('an own provider key and preferences lift nothing, and the refusal names the guardrail', async () => {
    const key = await governed({ allowed_providers: ['openai-compatible'] });
    await askFor(201, app, 'post', '/byok', {
      body: { provider: 'anthropic', key: 'the-own-key', workspace_id: key.workspaceId },
    });
    const refused = await chat(key, { model: CLAUDE, provider: { only: ['anthropic'] } });
    expect(refused).toMatchObject({
      status: 404,
      body: {
        error: {
          message: `${REFUSAL}: excluded by guardrail Strict`,
          metadata: {
            guardrails: [{ name: 'Strict', scope: 'api_key' }],
            requested_providers: ['anthropic'],
          },
        },
      },
    });
    expect(sent()).toBe(0);
    expect((await chat(key, { model: OPEN_MODEL })).status).toBe(200);
  });

  it('a list of regions without this one refuses every call with 403', async () => {
    const key = await createKey();
    await govern(key, { allowed_data_regions: ['europe'] });
    const { body } = await untilStatus(key, OPEN_MODEL, 403);
    expect(body.error.metadata).toMatchObject({
      error_type: 'permission_denied',
      guardrails: [{ name: 'Strict', scope: 'api_key' }],
    });
  });
});

describe('which guardrails apply', () => {
  it('the default of the workspace, that of the member and that of the key narrow each other', async () => {
    const key = await createKey('user_1');
    const { workspaceId } = key;
    await askFor(200, app, 'patch', `/guardrails/${defaultGuardrailId(workspaceId)}`, {
      body: { ignored_models: ['local/echo'] },
    });
    await askFor(200, app, 'post', `/workspaces/${workspaceId}/members/add`, {
      body: { user_ids: ['user_1'] },
    });
    const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/guardrails', {
      body: {
        name: 'Of members',
        workspace_id: workspaceId,
        allowed_models: [OPEN_MODEL, 'local/echo', CLAUDE],
      },
    });
    await askFor(200, app, 'post', `/guardrails/${data.id}/assignments/members`, {
      body: { member_user_ids: ['user_1'] },
    });
    const own = await govern(key, { allowed_models: [OPEN_MODEL, 'local/echo'] });
    const models = [OPEN_MODEL, 'local/echo', CLAUDE];
    const untilStatuses = (wanted: readonly number[]) =>
      eventually(
        () => Promise.all(models.map(async (model) => (await chat(key, { model })).status)),
        (statuses) => statuses.join() === wanted.join(),
      );
    await untilStatuses([200, 404, 404]);
    await askFor(200, app, 'delete', `/guardrails/${own}`);
    await untilStatuses([200, 404, 200]);
    await askFor(200, app, 'delete', `/guardrails/${defaultGuardrailId(workspaceId)}`);
    await untilStatuses([200, 200, 200]);
  });

  it('a guardrail that is not assigned, and one of another key, govern nothing', async () => {
    const key = await createKey();
    await govern(await createKey(), { allowed_models: [OPEN_MODEL] });
    await askFor(201, app, 'post', '/guardrails', {
      body: { name: 'Unassigned', workspace_id: key.workspaceId, allowed_models: [OPEN_MODEL] },
    });
    expect((await chat(key, { model: CLAUDE })).status).toBe(200);
  });
});

it('a call that is refused by a guardrail is no generation', async () => {
  const key = await governed({ allowed_models: [OPEN_MODEL] });
  expect((await chat(key, { model: OPEN_MODEL })).status).toBe(200);
  expect((await chat(key, { model: CLAUDE })).status).toBe(404);
  const rows = await app.sql<{ model: string }>('SELECT model FROM generations WHERE workspace_id = $1', [
    key.workspaceId,
  ]);
  expect(rows.map(({ model }) => model)).not.toContain(CLAUDE);
});

it('a call whose caller and guardrails are cached sends no statement about guardrails (V33)', async () => {
  const free = await createKey();
  const key = await governed({ allowed_models: [OPEN_MODEL] });
  for (const one of [free, key]) expect((await chat(one, { model: OPEN_MODEL })).status).toBe(200);
  const recording = recordStatements();
  try {
    for (const one of [free, key]) expect((await chat(one, { model: OPEN_MODEL })).status).toBe(200);
    expect([...recording.statements.keys()].filter((text) => text.includes('guardrail'))).toEqual([]);
  } finally {
    recording.stop();
  }
});
