// @openrouter/sdk against the routes of presets.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import {
  BadRequestResponseError,
  ConflictResponseError,
  NotFoundResponseError,
} from '@openrouter/sdk/models/errors';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { eventually } from '../support/eventually.js';
import { askFor } from '../support/requests/admin.js';

const HI = { role: 'user', content: 'hi' } as const;

let app: TestApp;
let client: OpenRouter;
let inferenceClient: OpenRouter;
beforeAll(async () => {
  app = await createTestApp();
  const connect = (apiKey: string) =>
    new OpenRouter({ apiKey, serverURL: app.baseUrl, retryConfig: { strategy: 'none' } });
  client = connect(app.managementKey);
  inferenceClient = connect(app.apiKey);
});
afterAll(() => app.close());

const create = (slug: string, model = 'local/echo') =>
  client.presets.createPresetsChatCompletions({ slug, chatRequest: { model, messages: [HI] } });

it('creates a preset and its next versions from the bodies of all three wires, and reads them', async () => {
  const { data: first } = await client.presets.createPresetsChatCompletions({
    slug: 'support',
    chatRequest: {
      model: 'local/echo',
      temperature: 0.2,
      user: 'not kept',
      messages: [{ role: 'system', content: 'Be kind.' }, HI],
    },
  });
  expect(first).toMatchObject({
    slug: 'support',
    name: 'support',
    status: 'active',
    workspaceId: app.workspaceId,
    designatedVersion: {
      version: 1,
      config: { model: 'local/echo', temperature: 0.2 },
      systemPrompt: 'Be kind.',
    },
  });
  expect(first.designatedVersion!.id).toBe(first.designatedVersionId);
  expect(Object.keys(first.designatedVersion!.config)).toEqual(['model', 'temperature']);
  await client.presets.createPresetsMessages({
    slug: 'support',
    messagesRequest: { model: 'local/echo', maxTokens: 70, system: 'Be brief.', messages: [HI] },
  });
  const { data: third } = await client.presets.createPresetsResponses({
    slug: 'support',
    responsesRequest: { model: 'local/echo', maxOutputTokens: 90, instructions: 'Be exact.', input: 'hi' },
  });
  expect(third).toMatchObject({
    id: first.id,
    designatedVersion: {
      version: 3,
      config: { model: 'local/echo', max_tokens: 90 },
      systemPrompt: 'Be exact.',
    },
  });
  expect((await client.presets.get({ slug: 'support' })).data).toEqual(third);
  const { data: second } = await client.presets.getVersion({ slug: 'support', version: '2' });
  expect(second).toMatchObject({ config: { max_tokens: 70 }, systemPrompt: 'Be brief.', presetId: first.id });
  const versions: number[] = [];
  for await (const { result } of await client.presets.listVersions({ slug: 'support', limit: 2 })) {
    expect(result.totalCount).toBe(3);
    versions.push(...result.data.map((version) => version!.version));
  }
  expect(versions).toEqual([1, 2, 3]);
});

it('lists the presets of the workspace, the last changed first', async () => {
  await create('list-one');
  app.clock.advance(1_000);
  await create('list-two');
  app.clock.advance(1_000);
  await create('list-one');
  const slugs: string[] = [];
  for await (const { result } of await client.presets.list({ limit: 1 }))
    slugs.push(...result.data.map(({ slug }) => slug));
  expect(slugs.filter((slug) => slug.startsWith('list-'))).toEqual(['list-one', 'list-two']);
});

it('answers a call by the preset, and names it among the models of the key', async () => {
  await create('callable');
  const answer = await inferenceClient.chat.send({
    chatRequest: { model: '@preset/callable', messages: [HI] },
  });
  expect(answer).toMatchObject({ model: 'local/echo' });
  const listed = await inferenceClient.models.listForUser({ bearer: app.apiKey });
  expect(listed.result.data.find(({ id }) => id === '@preset/callable')).toMatchObject({
    canonicalSlug: 'local/echo',
  });
});

it('uses a new version on every replica within two seconds', async () => {
  const replica = await app.startReplica();
  try {
    await create('replicated');
    const versionAt = async ({ baseUrl }: TestApp): Promise<number | null> => {
      const connected = new OpenRouter({ apiKey: app.apiKey, serverURL: baseUrl });
      const answer = await connected.chat.send({
        chatRequest: { model: '@preset/replicated', messages: [HI] },
      });
      const { data } = await askFor<{ data: { preset_version: number } }>(
        200,
        app,
        'get',
        `/generation?id=${(answer as { id: string }).id}`,
      );
      return data.preset_version;
    };
    for (const each of [app, replica]) expect(await versionAt(each)).toBe(1);
    await create('replicated');
    const changedAt = performance.now();
    expect(await versionAt(app)).toBe(2);
    await eventually(
      () => versionAt(replica),
      (version) => version === 2,
    );
    expect(performance.now() - changedAt).toBeLessThan(2_000);
    await askFor(200, app, 'patch', '/presets/replicated', { body: { designated_version: 1 } });
    expect(await versionAt(app)).toBe(1);
  } finally {
    await replica.close();
  }
});

it('refuses inference keys, unknown presets and versions, and bodies that no call may have', async () => {
  await create('refusing');
  await expect(inferenceClient.presets.list()).rejects.toMatchObject({ statusCode: 403 });
  await expect(client.presets.get({ slug: 'nothing' })).rejects.toThrow(NotFoundResponseError);
  for (const version of ['2', '0', 'x'])
    await expect(client.presets.getVersion({ slug: 'refusing', version })).rejects.toThrow(
      NotFoundResponseError,
    );
  await expect(create('-no-slug')).rejects.toThrow(BadRequestResponseError);
  await expect(create('nested', '@preset/refusing')).rejects.toThrow(BadRequestResponseError);
  await expect(
    client.presets.createPresetsChatCompletions({
      slug: 'nested',
      chatRequest: { model: 'local/echo', temperature: 9, messages: [HI] },
    }),
  ).rejects.toThrow(BadRequestResponseError);
  for (const refused of [{ transforms: ['middle-out'] }, { tools: [{ type: 'web_search' }] }])
    await askFor(400, app, 'post', '/presets/nested/chat/completions', {
      body: { model: 'local/echo', messages: [HI], ...refused },
    });
  await askFor(400, app, 'post', '/presets/nested/messages', {
    body: { model: 'local/echo', messages: [HI], tools: [{ type: 'bash_20250124', name: 'bash' }] },
  });
  await askFor(413, app, 'post', '/presets/nested/chat/completions', {
    body: { model: 'local/echo', messages: [{ role: 'user', content: 'x'.repeat(65_536) }] },
  });
  await askFor(400, app, 'patch', '/presets/refusing', { body: { designated_version: 2 } });
});

it('responds 409 to the hundred and first preset of a workspace, unless an archived one gives its place', async () => {
  await app.sql(
    `WITH made AS (
       INSERT INTO presets (workspace_id, slug, id, account_id, designated_version, latest_version, updated_at)
       SELECT $1::uuid, 'filling-' || n, gen_random_uuid(), $2::uuid, 1, 1, now()
       FROM generate_series(1, 100 - (SELECT count(*) FROM presets WHERE workspace_id = $1::uuid)) n
       RETURNING id
     )
     INSERT INTO preset_versions (preset_id, version, id, config, creator_hash)
     SELECT id, 1, gen_random_uuid(), '{}', repeat('0', 64) FROM made`,
    [app.workspaceId, app.accountId],
  );
  await expect(create('one-more')).rejects.toThrow(ConflictResponseError);
  await askFor(200, app, 'delete', '/presets/filling-1');
  await create('one-more');
  await askFor(404, app, 'get', '/presets/filling-1');
  await app.sql(`UPDATE presets SET latest_version = 100 WHERE slug = 'one-more'`);
  await expect(create('one-more')).rejects.toThrow(ConflictResponseError);
  await askFor(200, app, 'delete', '/presets/one-more');
  const { data } = await create('one-more');
  expect(data.designatedVersion!.version).toBe(1);
});

it('numbers versions without gaps where several are made at once', async () => {
  await app.sql(`DELETE FROM presets WHERE slug LIKE 'filling-%'`);
  const made = await Promise.all(Array.from({ length: 5 }, () => create('at-once')));
  const versions = made.map(({ data }) => data.designatedVersion!.version);
  expect(new Set(versions)).toEqual(new Set([1, 2, 3, 4, 5]));
});

it('audits each version and each change, and deletes the presets of a deleted workspace', async () => {
  const { data: workspace } = await client.workspaces.create({
    createWorkspaceRequest: { name: 'Other', slug: 'other' },
  });
  const path = (rest: string): string => `/presets/audited${rest}?workspace_id=${workspace.id}`;
  const body = { model: 'local/echo', messages: [HI] };
  await askFor(200, app, 'post', path('/chat/completions'), { body });
  app.clock.advance(1);
  await askFor(200, app, 'patch', path(''), { body: { status: 'disabled' } });
  app.clock.advance(1);
  await askFor(404, app, 'get', '/presets/audited');
  await client.workspaces.delete({ id: workspace.id });
  const { data } = await askFor<{ data: { action: string; after: { status: string } | null }[] }>(
    200,
    app,
    'get',
    `/audit?object_type=preset&workspace_id=${workspace.id}`,
  );
  expect(data.map(({ action, after }) => [action, after?.status])).toEqual([
    ['delete', undefined],
    ['update', 'disabled'],
    ['create', 'active'],
  ]);
  expect(await app.sql('SELECT 1 FROM presets WHERE workspace_id = $1', [workspace.id])).toEqual([]);
});
