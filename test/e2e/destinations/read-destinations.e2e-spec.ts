// GET and DELETE /observability/destinations: pages, workspaces, deletion.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { deleteAllDestinations, WEBHOOK } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';

const PATH = '/observability/destinations';
const NO_SUCH = 'Resource not found: no such destination';

interface Listed {
  readonly data: readonly { readonly id: string; readonly name: string }[];
  readonly total_count: number;
}

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterEach(() => deleteAllDestinations(app));
afterAll(() => app.close());

/** Creates them a second apart. */
async function create(...names: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) {
    app.clock.advance(1_000);
    const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', PATH, {
      body: { ...WEBHOOK, name },
    });
    ids.push(data.id);
  }
  return ids;
}

async function namesOf(query = ''): Promise<string[]> {
  const { data } = await askFor<Listed>(200, app, 'get', `${PATH}${query}`);
  return data.map(({ name }) => name);
}

describe('a list', () => {
  it('contains the records newest first, and their number', async () => {
    await create('one', 'two', 'three', 'four');
    expect(await namesOf()).toEqual(['four', 'three', 'two', 'one']);
    expect(await askFor<Listed>(200, app, 'get', `${PATH}?offset=1&limit=2`)).toMatchObject({
      data: [{ name: 'three' }, { name: 'two' }],
      total_count: 4,
    });
    expect(await askFor<Listed>(200, app, 'get', `${PATH}?offset=4`)).toEqual({ data: [], total_count: 4 });
  });

  it('contains the same records as single reads', async () => {
    const [id] = await create('one');
    const one = await askFor<{ data: unknown }>(200, app, 'get', `${PATH}/${id}`);
    expect((await askFor<Listed>(200, app, 'get', PATH)).data).toEqual([one.data]);
  });

  it('is that of the default workspace, or of the requested one', async () => {
    const other = randomUUID();
    await app.sql('INSERT INTO workspaces (id, account_id, name, slug) VALUES ($1, $2, $3, $3)', [
      other,
      app.accountId,
      'other',
    ]);
    await create('here');
    await askFor(201, app, 'post', PATH, { body: { ...WEBHOOK, name: 'there', workspace_id: other } });
    expect(await namesOf()).toEqual(['here']);
    expect(await namesOf(`?workspace_id=${app.workspaceId}`)).toEqual(['here']);
    expect(await namesOf(`?workspace_id=${other.toUpperCase()}`)).toEqual(['there']);
  });

  it.each([
    ['limit=0', 'limit: must be from 1 to 100'],
    ['limit=101', 'limit: must be from 1 to 100'],
    ['limit=1.5', 'limit: must be a whole number'],
    ['offset=-1', 'offset: must not be negative'],
    ['offset=x', 'offset: must be a whole number'],
    ['workspace_id=x', 'workspace_id: must be a UUID'],
    [`workspace_id=${randomUUID()}`, 'workspace_id: no such workspace'],
    ['page=2', 'page: is not a member of this object'],
  ])('returns 400 for %s', async (query, detail) => {
    expectError(await ask(app, 'get', `${PATH}?${query}`), 400, `Invalid request parameters: ${detail}`);
  });

  it('returns 400 for the workspace of another account', async () => {
    const { workspaceId } = await app.createAccount();
    const response = await ask(app, 'get', `${PATH}?workspace_id=${workspaceId}`);
    expectError(response, 400, 'Invalid request parameters: workspace_id: no such workspace');
  });
});

describe('one destination', () => {
  it('is read with its secrets abbreviated', async () => {
    const created = await askFor<{ data: { id: string } }>(201, app, 'post', PATH, {
      body: {
        type: 'kind_06',
        name: 'Langfuse',
        config: { secretKey: 'sk-lf-0123456789', publicKey: 'pk-lf-9876543210', headers: { 'X-A': 'short' } },
      },
    });
    const read = await askFor<{ data: object }>(200, app, 'get', `${PATH}/${created.data.id}`);
    expect(read).toEqual(created);
    expect(read.data).toMatchObject({
      type: 'kind_06',
      config: { secretKey: 'sk-l...6789', publicKey: 'pk-l...3210', headers: { 'X-A': '****' } },
    });
  });

  it.each([randomUUID(), 'x', '%00', "'%20OR%201=1"])('returns 404 for %s', async (id) => {
    expectError(await ask(app, 'get', `${PATH}/${id}`), 404, NO_SUCH);
    expectError(await ask(app, 'delete', `${PATH}/${id}`), 404, NO_SUCH);
    expectError(await ask(app, 'patch', `${PATH}/${id}`, { body: { name: 'x' } }), 404, NO_SUCH);
  });
});

describe('a deleted destination', () => {
  it('is gone, and its slot is free; its row stays without a cursor until it is purged', async () => {
    const [first = '', ...others] = await create('1', '2', '3', '4', '5');
    expectError(await ask(app, 'post', PATH, { body: WEBHOOK }), 409);
    expect(await askFor(200, app, 'delete', `${PATH}/${first}`)).toEqual({ deleted: true });
    expectError(await ask(app, 'get', `${PATH}/${first}`), 404, NO_SUCH);
    expectError(await ask(app, 'delete', `${PATH}/${first}`), 404, NO_SUCH);
    expectError(await ask(app, 'patch', `${PATH}/${first}`, { body: { name: 'x' } }), 404, NO_SUCH);
    expect((await askFor<Listed>(200, app, 'get', PATH)).total_count).toBe(others.length);
    const rows = await app.sql(
      `SELECT slot, deleted_at IS NOT NULL AS deleted, c.destination_id IS NOT NULL AS has_cursor
       FROM destinations d LEFT JOIN delivery_cursors c ON c.destination_id = d.id WHERE d.id = $1`,
      [first],
    );
    expect(rows).toEqual([{ slot: null, deleted: true, has_cursor: false }]);
    await create('6');
    expect(await namesOf()).toEqual(['6', '5', '4', '3', '2']);
  });

  it('is deleted once by concurrent requests', async () => {
    const [id] = await create('one');
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(app, 'delete', `${PATH}/${id}`)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 404)).toHaveLength(9);
  });
});
