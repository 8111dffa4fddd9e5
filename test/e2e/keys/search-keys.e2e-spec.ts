// GET /keys?q=: keys by a part of their name. Contract: docs/contract.md#api-keys.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { expectError } from '../../support/requests/error-shape.js';

/** Newest first. */
const NAMES = ['back\\slash', 'under_score', '100% real', 'Search index', 'The search team'];

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
  for (const name of NAMES.toReversed()) {
    app.clock.advance(1_000);
    await app.createKey({ name });
  }
  const { record } = await app.createKey({ name: 'disabled search' });
  await app.sql('UPDATE api_keys SET disabled = true WHERE id = $1', [record.id]);
});
afterAll(() => app.close());

async function namesOf(query: string): Promise<string[]> {
  const { data } = await askFor<{ data: { name: string }[] }>(200, app, 'get', `/keys?${query}`);
  return data.map(({ name }) => name);
}

describe('200', () => {
  it.each([
    ['search', ['Search index', 'The search team']],
    ['SEARCH T', ['The search team']],
    ['%', ['100% real']],
    ['_', ['under_score']],
    ['\\', ['back\\slash']],
    ['\\_', []],
    ['0% R', ['100% real']],
    ['nothing', []],
    ["' OR true --", []],
  ])('finds the names that contain %j', async (part, expected) => {
    expect(await namesOf(`q=${encodeURIComponent(part)}`)).toEqual(expected);
  });

  it('filters by no empty text', async () => {
    expect(await namesOf('q=')).toEqual(expect.arrayContaining(NAMES));
  });

  it('finds disabled keys where these are asked for', async () => {
    expect(await namesOf('q=search&include_disabled=true')).toEqual([
      'disabled search',
      'Search index',
      'The search team',
    ]);
  });

  it('finds no key of another workspace or account', async () => {
    const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
      body: { name: 'Second', slug: 'second' },
    });
    await app.createKey({ workspaceId: data.id, name: 'search elsewhere' });
    const stranger = await app.createAccount();
    const { accountId, workspaceId } = stranger;
    await app.createKey({ accountId, workspaceId, name: 'search of a stranger' });
    expect(await namesOf('q=search')).toEqual(['Search index', 'The search team']);
    expect(await namesOf(`q=search&workspace_id=${data.id}`)).toEqual(['search elsewhere']);
  });

  it('pages, and keeps the search in the address of the next page', async () => {
    expect(await namesOf('q=search&limit=1&offset=1')).toEqual(['The search team']);
    const response = await app.http
      .get('/api/v1/keys?q=search&limit=1')
      .set('authorization', `Bearer ${app.managementKey}`)
      .set('accept', 'text/csv');
    expect(response.headers['link']).toBe('</api/v1/keys?q=search&limit=1&offset=1>; rel="next"');
  });
});

it.each([
  [`q=${'a'.repeat(201)}`, /q: must have at most 200 characters/],
  ['q=a&q=b', /q: must be a string/],
  ['q=%00', /q: /],
])('returns 400 for %.12s', async (query, message) => {
  expectError(await ask(app, 'get', `/keys?${query}`), 400, message);
});
