// POST /observability/destinations: at most five destinations of a kind in a workspace, exact under concurrency.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { deleteAllDestinations, post, WEBHOOK } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';

const LANGFUSE = {
  name: 'Traces',
  config: { secretKey: 'sk-lf-0123456789abcdef', publicKey: 'pk-lf-0123456789abcdef' },
};

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterEach(() => deleteAllDestinations(app));
afterAll(() => app.close());

async function statusesOf(creates: readonly Promise<{ status: number }>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(creates)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function countStored(): Promise<number> {
  const [row] = await app.sql<{ count: string }>(
    'SELECT count(*) FROM destinations WHERE deleted_at IS NULL',
  );
  return Number(row!.count);
}

describe('the limit of five', () => {
  it('returns 409 for the sixth destination of a kind, with the way out', async () => {
    for (let count = 1; count <= 5; count++) expect((await post(app, WEBHOOK)).status).toBe(201);
    expectError(
      await post(app, WEBHOOK),
      409,
      `Limit reached: workspace ${app.workspaceId} has 5 destinations of type webhook, ` +
        'which is the limit; delete one of them first',
    );
    expect(await countStored()).toBe(5);
  });

  it('admits exactly 5 of 50 parallel creations', async () => {
    const creates = Array.from({ length: 50 }, () => post(app, WEBHOOK).then((response) => response));
    expect(await statusesOf(creates)).toEqual({ 201: 5, 409: 45 });
    expect(await countStored()).toBe(5);
  });

  it('admits exactly 5 of 50 parallel creations on two replicas in both spellings', async () => {
    const replica = await app.startReplica();
    try {
      const creates = Array.from({ length: 50 }, (_value, index) =>
        post(
          index % 2 ? app : replica,
          { ...LANGFUSE, type: index % 4 < 2 ? 'langfuse' : 'kind_06' },
          app.managementKey,
        ).then((response) => response),
      );
      expect(await statusesOf(creates)).toEqual({ 201: 5, 409: 45 });
      expect(await countStored()).toBe(5);
    } finally {
      await replica.close();
    }
  });

  it('counts both spellings as one kind; each record keeps its own', async () => {
    const types = ['langfuse', 'kind_06', 'langfuse', 'kind_06', 'kind_06'];
    for (const type of types) {
      expect((await post(app, { ...LANGFUSE, type })).body).toMatchObject({ data: { type } });
    }
    for (const type of ['langfuse', 'kind_06']) expectError(await post(app, { ...LANGFUSE, type }), 409);
  });

  it('admits one more after a deletion', async () => {
    await Promise.all(Array.from({ length: 5 }, () => post(app, WEBHOOK)));
    await app.sql('UPDATE destinations SET slot = NULL, deleted_at = now() WHERE slot = 3');
    const creates = Array.from({ length: 10 }, () => post(app, WEBHOOK).then((response) => response));
    expect(await statusesOf(creates)).toEqual({ 201: 1, 409: 9 });
  });

  it('counts disabled destinations', async () => {
    for (let count = 1; count <= 5; count++) await post(app, { ...WEBHOOK, enabled: false });
    expectError(await post(app, WEBHOOK), 409);
  });

  it('is separate for other types, workspaces and accounts', async () => {
    for (let count = 1; count <= 5; count++) await post(app, WEBHOOK);
    expectError(await post(app, WEBHOOK), 409);
    expect((await post(app, { ...LANGFUSE, type: 'langfuse' })).status).toBe(201);
    const workspaceId = '01934b2c-0000-7000-8000-00000000abcd';
    await app.sql(`INSERT INTO workspaces (id, account_id, name, slug) VALUES ($1, $2, 'Second', 'second')`, [
      workspaceId,
      app.accountId,
    ]);
    expect((await post(app, { ...WEBHOOK, workspace_id: workspaceId })).status).toBe(201);
    const other = await app.createAccount();
    expect((await post(app, WEBHOOK, other.managementKey)).status).toBe(201);
  });
});
