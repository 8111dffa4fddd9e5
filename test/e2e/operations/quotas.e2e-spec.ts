// Quotas of keys, workspaces and members: exact under concurrency, and released by deletion.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestAccount, TestApp } from '../../support/app/app.js';
import { expectError } from '../../support/requests/error-shape.js';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({
    environment: {
      MAX_KEYS_PER_WORKSPACE: '5',
      MAX_KEYS_PER_ACCOUNT: '7',
      MAX_WORKSPACES_PER_ACCOUNT: '3',
      MAX_MEMBERS_PER_WORKSPACE: '4',
      RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0',
    },
  });
});
afterAll(() => app.close());

const statusesOf = (answers: readonly Response[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
const createWorkspace = (account: TestAccount, slug: string) =>
  ask(app, 'post', '/workspaces', { key: account.managementKey, body: { name: slug, slug } });
const createKey = (account: TestAccount, workspaceId = account.workspaceId) =>
  ask(app, 'post', '/keys', {
    key: account.managementKey,
    body: { name: 'New', workspace_id: workspaceId },
  });

describe('the quota of keys', () => {
  it('admits as many of 20 parallel creations in a workspace as there is room for', async () => {
    const account = await app.createAccount();
    // It has a management key and an inference key.
    const answers = await Promise.all(Array.from({ length: 20 }, () => createKey(account)));
    expect(statusesOf(answers)).toEqual({ 201: 3, 409: 17 });
    const rejected = answers.find(({ status }) => status === 409);
    expect(expectError(rejected!, 409)).toMatch(
      /workspace \S+ may have 5 API keys; delete some of them first, or have the operator raise MAX_KEYS_PER_WORKSPACE$/,
    );
    // Rejected creations leave nothing, and a deletion makes room for one.
    const { data: keys } = await askFor<{ data: { hash: string }[] }>(200, app, 'get', '/keys', {
      key: account.managementKey,
    });
    expect(keys).toHaveLength(5);
    await askFor(200, app, 'delete', `/keys/${account.key.hash}`, { key: account.managementKey });
    const again = await Promise.all(Array.from({ length: 3 }, () => createKey(account)));
    expect(statusesOf(again)).toEqual({ 201: 1, 409: 2 });
  });

  it('of an account applies to all of its workspaces', async () => {
    const account = await app.createAccount();
    const { data: second } = (await createWorkspace(account, 'second')).body as { data: { id: string } };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_one, index) =>
        createKey(account, index % 2 === 0 ? account.workspaceId : second.id),
      ),
    );
    expect(statusesOf(answers)).toEqual({ 201: 5, 409: 5 });
    const other = await app.createAccount();
    expect((await createKey(other)).status).toBe(201);
  });
});

describe('the quota of workspaces', () => {
  it('admits as many of 12 parallel creations in an account as there is room for', async () => {
    const account = await app.createAccount();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_one, index) => createWorkspace(account, `parallel-${index}`)),
    );
    expect(statusesOf(answers)).toEqual({ 201: 2, 409: 10 });
    const rejected = answers.find(({ status }) => status === 409);
    expect(expectError(rejected!, 409)).toMatch(/may have 3 workspaces; .* MAX_WORKSPACES_PER_ACCOUNT$/);
    const made = answers.find(({ status }) => status === 201)?.body as { data: { id: string } };
    await askFor(200, app, 'delete', `/workspaces/${made.data.id}`, { key: account.managementKey });
    expect((await createWorkspace(account, 'after')).status).toBe(201);
    expect((await createWorkspace(account, 'beyond')).status).toBe(409);
  });
});

describe('the quota of members', () => {
  it('adds no member of a request that exceeds it', async () => {
    const change = (what: 'add' | 'remove', users: readonly string[]) =>
      ask(app, 'post', `/workspaces/default/members/${what}`, { body: { user_ids: users } });
    const parallel = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((user) => change('add', [user])),
    );
    expect(statusesOf(parallel)).toEqual({ 200: 4, 409: 4 });
    const { data: members } = await askFor<{ data: { user_id: string }[] }>(
      200,
      app,
      'get',
      '/workspaces/default/members',
    );
    const users = members.map(({ user_id: user }) => user);
    expect(users).toHaveLength(4);
    // Existing members: none is added.
    expect((await change('add', users)).status).toBe(200);
    expect((await change('remove', users.slice(0, 1))).status).toBe(200);
    expectError(await change('add', ['x', 'y']), 409, /may have 4 members; .* MAX_MEMBERS_PER_WORKSPACE$/);
    expect((await change('add', ['x'])).status).toBe(200);
  });
});
