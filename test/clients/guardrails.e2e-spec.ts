// Guardrails through the real clients: a refusal that no client repeats, and every operation.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { HTTPClient, OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import OpenAI, { PermissionDeniedError } from 'openai';
import { defaultGuardrailId } from '../../src/domain/guardrails/guardrail.js';
import { createGovernedKey } from '../support/guardrails/governed.js';
import { SMALL, startWithUpstream } from '../support/requests/create-embedding.js';
import type { Setup } from '../support/requests/create-embedding.js';

const MODEL = 'openai/gpt-4.1-mini';
const MATCH = 'sesame-42';

let setup: Setup;
beforeAll(async () => {
  setup = await startWithUpstream({
    RATE_LIMIT_CHANGES_PER_MINUTE: '10000',
    RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0',
  });
});
afterAll(() => setup?.close());

describe('a blocked text', () => {
  let secret: string;
  let requests = 0;
  const counted: typeof fetch = (input, init) => {
    requests++;
    return fetch(input, init);
  };
  beforeAll(async () => {
    ({ secret } = await createGovernedKey(setup.app, {
      content_filters: [{ pattern: 'sesame-[0-9]+', action: 'block', label: 'CODE' }],
    }));
  });
  beforeEach(() => {
    requests = 0;
  });

  async function expectOneRefusal(call: Promise<unknown>): Promise<unknown> {
    const error = await call.then(
      () => null,
      (failure: unknown) => failure,
    );
    expect(requests).toBe(1);
    expect(setup.upstream.requests).toEqual([]);
    return error;
  }
  const messages = [{ role: 'user' as const, content: MATCH }];

  it.each(['chat', 'embeddings'] as const)(
    'is a permission error of openai in %s, with its type and after one request (V10)',
    async (operation) => {
      const client = new OpenAI({ apiKey: secret, baseURL: setup.app.baseUrl, fetch: counted });
      const error = await expectOneRefusal(
        operation === 'chat'
          ? client.chat.completions.create({ model: MODEL, messages })
          : client.embeddings.create({ model: SMALL, input: MATCH }),
      );
      expect(error).toBeInstanceOf(PermissionDeniedError);
      expect(error).toMatchObject({
        status: 403,
        error: { metadata: { error_type: 'content_policy_violation', filter: 'CODE' } },
      });
    },
  );

  it.each(['chat', 'embeddings'] as const)(
    'is a refusal of @openrouter/sdk in %s, with its type and after one request (V10)',
    async (operation) => {
      const client = new OpenRouter({
        apiKey: secret,
        serverURL: setup.app.baseUrl,
        httpClient: new HTTPClient({ fetcher: counted }),
      });
      const error = await expectOneRefusal(
        operation === 'chat'
          ? client.chat.send({ chatRequest: { model: MODEL, messages } })
          : client.embeddings.generate({ requestBody: { model: SMALL, input: MATCH } }),
      );
      expect(error).toBeInstanceOf(errors.ForbiddenResponseError);
      expect(error).toMatchObject({
        statusCode: 403,
        body: expect.stringContaining('content_policy_violation'),
      });
    },
  );
});

it('@openrouter/sdk calls all 13 operations, pages through all guardrails, and configures the default one (V31)', async () => {
  const { app } = setup;
  const { guardrails, workspaces } = new OpenRouter({
    apiKey: app.managementKey,
    serverURL: app.baseUrl,
    retryConfig: { strategy: 'none' },
  });
  const { data: workspace } = await workspaces.create({
    createWorkspaceRequest: { name: 'Governed', slug: 'governed' },
  });
  const workspaceId = workspace.id;
  const ids = await Promise.all(
    Array.from({ length: 100 }, async (_value, index) => {
      const { data } = await guardrails.create({
        createGuardrailRequest: { name: `Rule ${index}`, workspaceId },
      });
      return data.id;
    }),
  );
  const defaultId = defaultGuardrailId(workspaceId);
  await expect(guardrails.get({ id: defaultId })).rejects.toBeInstanceOf(errors.NotFoundResponseError);
  const { data: configured } = await guardrails.update({
    id: defaultId,
    updateGuardrailRequest: { ignoredModels: ['local/echo'] },
  });
  expect(configured).toMatchObject({ id: defaultId, ignoredModels: ['local/echo'] });

  const pages: string[][] = [];
  for await (const { result } of await guardrails.list({ workspaceId, limit: 30 })) {
    expect(result.totalCount).toBe(101);
    pages.push(result.data.map(({ id }) => id));
  }
  expect(pages.map(({ length }) => length).filter((length) => length > 0)).toEqual([30, 30, 30, 11]);
  expect(new Set(pages.flat())).toEqual(new Set([...ids, defaultId]));

  const [id = ''] = ids;
  const keyHashes: string[] = [];
  while (keyHashes.length < 120) keyHashes.push((await app.createKey({ workspaceId })).record.hash);
  for (const part of [keyHashes.slice(0, 100), keyHashes.slice(100)]) {
    const bulkAssignKeysRequest = { keyHashes: part };
    expect(await guardrails.bulkAssignKeys({ id, bulkAssignKeysRequest })).toEqual({
      assignedCount: part.length,
    });
  }
  const memberUserIds = ['user-1', 'user-2'];
  await workspaces.bulkAddMembers({
    id: workspaceId,
    bulkAddWorkspaceMembersRequest: { userIds: memberUserIds },
  });
  expect(await guardrails.bulkAssignMembers({ id, bulkAssignMembersRequest: { memberUserIds } })).toEqual({
    assignedCount: 2,
  });

  const assigned = new Set<string>();
  for await (const { result } of await guardrails.listGuardrailKeyAssignments({ id }))
    for (const { keyHash } of result.data) assigned.add(keyHash);
  expect(assigned).toEqual(new Set(keyHashes));
  const everywhere = new Set<string>();
  for await (const { result } of await guardrails.listKeyAssignments({}))
    for (const { keyHash } of result.data) everywhere.add(keyHash);
  expect([...everywhere]).toEqual(expect.arrayContaining(keyHashes));
  for (const list of [
    await guardrails.listMemberAssignments({}),
    await guardrails.listGuardrailMemberAssignments({ id }),
  ])
    expect(list.result.data.map(({ userId }) => userId).toSorted()).toEqual(memberUserIds);

  expect(
    await guardrails.bulkUnassignKeys({
      id,
      bulkUnassignKeysRequest: { keyHashes: keyHashes.slice(0, 100) },
    }),
  ).toEqual({ unassignedCount: 100 });
  expect(await guardrails.bulkUnassignMembers({ id, bulkUnassignMembersRequest: { memberUserIds } })).toEqual(
    { unassignedCount: 2 },
  );
  expect(await guardrails.delete({ id })).toEqual({ deleted: true });
  await expect(guardrails.get({ id })).rejects.toBeInstanceOf(errors.NotFoundResponseError);
});
