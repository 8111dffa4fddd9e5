// @openrouter/sdk against the routes of workspaces, provider credentials, credits, activity and models.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import {
  BadRequestResponseError,
  NotFoundResponseError,
  UnauthorizedResponseError,
  ForbiddenResponseError,
} from '@openrouter/sdk/models/errors';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { recordGenerations } from '../support/deliveries/deliveries.js';
import { contentOfText } from '../support/generations/generation.js';
import { createCredential } from '../support/requests/provider-credential.js';

const MANY = 250;

let app: TestApp;
let client: OpenRouter;
let inferenceClient: OpenRouter;
beforeAll(async () => {
  app = await createTestApp({ environment: { OPENAI_API_KEY: 'k' } });
  const connect = (apiKey: string) =>
    new OpenRouter({ apiKey, serverURL: app.baseUrl, retryConfig: { strategy: 'none' } });
  client = connect(app.managementKey);
  inferenceClient = connect(app.apiKey);
});
afterAll(() => app.close());

describe('workspaces', () => {
  it('are created, read, changed and deleted', async () => {
    const { data: created } = await client.workspaces.create({
      createWorkspaceRequest: {
        name: 'Production',
        slug: 'production',
        isObservabilityBroadcastEnabled: false,
      },
    });
    expect(created).toMatchObject({ slug: 'production', isObservabilityBroadcastEnabled: false });
    expect((await client.workspaces.get({ id: 'production' })).data).toEqual(created);
    const { data: updated } = await client.workspaces.update({
      id: created.id,
      updateWorkspaceRequest: { isObservabilityBroadcastEnabled: true },
    });
    expect(updated).toMatchObject({ id: created.id, isObservabilityBroadcastEnabled: true });
    expect(await client.workspaces.delete({ id: created.id })).toEqual({ deleted: true });
    await expect(client.workspaces.get({ id: created.id })).rejects.toThrow(NotFoundResponseError);
    await expect(client.workspaces.delete({ id: 'default' })).rejects.toThrow(BadRequestResponseError);
    await expect(
      client.workspaces.delete({ id: 'default', confirmDefaultWorkspaceDeletion: false }),
    ).rejects.toThrow(BadRequestResponseError);
  });

  it(`${MANY} are read page by page`, async () => {
    await app.sql(
      `INSERT INTO workspaces (id, account_id, name, slug)
       SELECT gen_random_uuid(), $1, 'Many', 'many-' || n FROM generate_series(1, ${MANY}) n`,
      [app.accountId],
    );
    const slugs: string[] = [];
    for await (const page of await client.workspaces.list())
      slugs.push(...page.result.data.map(({ slug }) => slug));
    expect(slugs).toHaveLength(MANY + 1);
    expect(new Set(slugs).size).toBe(MANY + 1);
  });

  it('have budgets', async () => {
    const monthly = { workspaceRef: 'default', interval: 'monthly' } as const;
    const { data: set } = await client.workspaces.setBudget({
      ...monthly,
      upsertWorkspaceBudgetRequest: { limitUsd: 12.5, includeByokInBudgets: true },
    });
    expect(set).toMatchObject({ limitUsd: 12.5, resetInterval: 'monthly' });
    expect(await client.workspaces.getBudget(monthly)).toEqual({ data: set, includeByokInBudgets: true });
    const daily = client.workspaces.setBudget({
      ...monthly,
      interval: 'daily',
      upsertWorkspaceBudgetRequest: { limitUsd: 13 },
    });
    await expect(daily).rejects.toThrow(BadRequestResponseError);
    expect((await client.workspaces.listBudgets({ workspaceRef: 'default' })).data).toEqual([set]);
    expect(await client.workspaces.deleteBudget(monthly)).toEqual({ deleted: true });
    await expect(client.workspaces.getBudget(monthly)).rejects.toThrow(NotFoundResponseError);
  });

  it('have members', async () => {
    const userIds = Array.from({ length: 60 }, (_none, index) => `user_${index}`);
    const added = await client.workspaces.bulkAddMembers({
      id: 'default',
      bulkAddWorkspaceMembersRequest: { userIds },
    });
    expect(added).toMatchObject({ addedCount: 60 });
    const listed: string[] = [];
    for await (const page of await client.workspaces.listMembers({ id: 'default' }))
      listed.push(...page.result.data.map(({ userId }) => userId));
    expect(listed.toSorted()).toEqual(userIds.toSorted());
    const removed = await client.workspaces.bulkRemoveMembers({
      id: 'default',
      bulkRemoveWorkspaceMembersRequest: { userIds },
    });
    expect(removed).toEqual({ removedCount: 60 });
  });
});

describe('provider credentials', () => {
  it('are created, read, rotated and deleted', async () => {
    const { data: created } = await client.byok.create({
      createBYOKKeyRequest: { provider: 'openai', key: 'sk-own-0123456789', isRequired: true },
    });
    expect(created).toMatchObject({ provider: 'openai', label: 'sk-o...6789', isRequired: true });
    expect((await client.byok.get({ id: created.id })).data).toEqual(created);
    const { data: rotated } = await client.byok.update({
      id: created.id,
      updateBYOKKeyRequest: { key: 'sk-own-9876543210', name: 'Rotated' },
    });
    expect(rotated).toMatchObject({ id: created.id, label: 'sk-o...3210', name: 'Rotated' });
    expect(await client.byok.delete({ id: created.id })).toEqual({ deleted: true });
    await expect(client.byok.get({ id: created.id })).rejects.toThrow(NotFoundResponseError);
  });

  it(`${MANY} are read page by page`, async () => {
    const { id } = await createCredential(app, { apiKey: 'sk-own-of-many' });
    await app.sql(
      `INSERT INTO provider_credentials
         (id, workspace_id, account_id, provider, label, ciphertext, encryption_key_id, allowed_models,
          allowed_api_key_hashes, allowed_user_ids)
       SELECT gen_random_uuid(), workspace_id, account_id, provider, label, ciphertext, encryption_key_id,
         '{}', '{}', '{}'
       FROM provider_credentials, generate_series(2, ${MANY}) WHERE id = $1`,
      [id],
    );
    const ids = new Set<string>();
    for await (const page of await client.byok.list({})) for (const one of page.result.data) ids.add(one.id);
    expect(ids.size).toBe(MANY);
    for await (const page of await client.byok.list({ provider: 'azure', workspaceId: app.workspaceId }))
      expect(page.result).toEqual({ data: [], totalCount: 0 });
  });
});

describe('usage', () => {
  it('is returned by credits and activity', async () => {
    await recordGenerations(app, 2, {
      createdAt: new Date('2026-11-17T12:00:00.000Z'),
      cost: 1_000_000_000_000n,
    });
    expect((await client.credits.getCredits()).data).toEqual({ totalCredits: 0, totalUsage: 2 });
    const { data } = await client.analytics.getUserActivity({ groupBy: 'workspace', date: '2026-11-17' });
    expect(data).toEqual([
      expect.objectContaining({
        requests: 2,
        usage: 2,
        providerName: 'OpenAI',
        workspaceId: app.workspaceId,
      }),
    ]);
    await expect(inferenceClient.credits.getCredits()).rejects.toThrow(ForbiddenResponseError);
    await expect(inferenceClient.workspaces.list()).rejects.toThrow(UnauthorizedResponseError);
  });

  it('is returned by analytics', async () => {
    const { data: meta } = await client.analytics.getAnalyticsMeta();
    const { data: answer } = await client.analytics.queryAnalytics({
      requestBody: {
        metrics: meta.metrics.map(({ name }) => name),
        dimensions: ['model'],
        granularity: 'day',
        filters: [{ field: 'status', operator: 'in', value: [200] }],
        timeRange: { start: new Date('2026-11-01T00:00:00Z'), end: new Date('2026-11-18T00:00:00Z') },
        orderBy: { field: 'date', direction: 'desc' },
      },
    });
    expect(answer).toMatchObject({ metadata: { rowCount: 1, truncated: false }, warnings: [] });
    const unknown = client.analytics.queryAnalytics({ requestBody: { metrics: ['none'] } });
    await expect(unknown).rejects.toThrow(BadRequestResponseError);
  });

  it('includes the content of a generation', async () => {
    const [id] = await recordGenerations(app, 1, {}, contentOfText('some words'));
    const { data } = await inferenceClient.generations.listGenerationContent({ id: id! });
    expect(data).toMatchObject({ input: { prompt: 'some words' }, error: null });
  });
});

it('lists models and providers', async () => {
  const ids: string[] = [];
  for await (const page of await client.models.list({ outputModalities: 'embeddings', limit: 2 }))
    ids.push(...page.result.data.map(({ id }) => id));
  expect(ids).toContain('openai/text-embedding-3-small');
  expect((await client.models.count({ outputModalities: 'embeddings' })).data.count).toBe(ids.length);
  const reached: string[] = [];
  for await (const page of await inferenceClient.models.listForUser(
    { bearer: app.apiKey },
    {
      outputModalities: 'all',
    },
  ))
    reached.push(...page.result.data.map(({ id }) => id));
  expect(reached).toContain('local/hashing');
  const model = await client.models.get({ author: 'local', slug: 'hashing' });
  expect(model.data.id).toBe('local/hashing');
  expect((await client.providers.list()).data.map(({ slug }) => slug)).toContain('openai');
});
