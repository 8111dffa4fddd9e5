// The rules of a destination, tried on the newest generations of a workspace before they are saved.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ask } from '../../support/requests/admin.js';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  recordGenerations,
} from '../../support/deliveries/deliveries.js';
import { deleteAllDestinations } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';
import { contentOfText } from '../../support/generations/generation.js';

let app: TestApp;
beforeAll(async () => {
  app = await createDeliveryApp();
});
afterEach(async () => {
  await deleteAllDestinations(app);
  await app.sql('DELETE FROM generations');
  await app.sql('DELETE FROM generation_contents');
});
afterAll(() => app.close());

const preview = (body: object, key = app.managementKey) =>
  ask(app, 'post', '/observability/destinations/preview', { body, key });
const filterOf = (...rules: object[]) => ({ filter_rules: { groups: [{ logic: 'and', rules }] } });
const countsOf = async (body: object) => (await preview(body)).body.data;

describe('POST /observability/destinations/preview', () => {
  it('counts the generations that the filter selects, without storing anything', async () => {
    await recordGenerations(app, 3, { totalTokens: 500 });
    await recordGenerations(app, 2, { totalTokens: 5 });
    const { status, body } = await preview(filterOf({ field: 'total_tokens', operator: 'gte', value: 100 }));
    expect(status).toBe(200);
    expect(body).toEqual({ data: { matched: 3, of: 5, content_gone: 0 } });
    expect(await app.sql('SELECT 1 FROM destinations WHERE deleted_at IS NULL')).toEqual([]);
  });

  it('checks the last 100 generations, newest first', async () => {
    await recordGenerations(app, 5, {
      totalTokens: 500,
      createdAt: new Date(app.clock.now().getTime() - 60_000),
    });
    await recordGenerations(app, 100, { totalTokens: 5 });
    const rule = { field: 'total_tokens', operator: 'gte', value: 100 };
    expect(await countsOf(filterOf(rule))).toEqual({ matched: 0, of: 100, content_gone: 0 });
  });

  it('counts every generation of the chosen keys without a filter', async () => {
    const other = await app.createKey();
    await recordGenerations(app, 2);
    await recordGenerations(app, 1, {}, null, other.record);
    expect(await countsOf({ api_key_hashes: [other.record.hash] })).toMatchObject({ matched: 1, of: 3 });
    expect(await countsOf({})).toMatchObject({ matched: 3, of: 3 });
    expectError(await preview({ api_key_hashes: ['0'.repeat(64)] }), 400, /api_key_hashes: no such key/);
  });

  it('applies rules on inputs to stored contents, and counts the calls without one', async () => {
    await recordGenerations(app, 2, {}, contentOfText('a secret word'));
    await recordGenerations(app, 1, {}, contentOfText('other words'));
    await recordGenerations(app, 4, {}, null);
    const rule = { field: 'input', operator: 'regex', value: 'sec.et' };
    expect(await countsOf(filterOf(rule))).toEqual({ matched: 2, of: 7, content_gone: 4 });
    const absent = { field: 'input', operator: 'not_contains', value: 'secret' };
    expect(await countsOf(filterOf(absent))).toEqual({ matched: 1, of: 7, content_gone: 4 });
  });

  it('takes omitted members from the saved destination, and ignores its sampling', async () => {
    await recordGenerations(app, 3, { totalTokens: 500 });
    await recordGenerations(app, 2, { totalTokens: 5 });
    const { id } = await createDestination(
      app,
      { url: 'https://example.com/traces' },
      {
        samplingRate: 0.0001,
        filterRules: {
          enabled: true,
          groups: [{ logic: 'and', rules: [{ field: 'total_tokens', operator: 'lt', value: 100 }] }],
        },
      },
    );
    expect(await countsOf({ destination_id: id })).toMatchObject({ matched: 2, of: 5 });
    const change = { destination_id: id, ...filterOf({ field: 'total_tokens', operator: 'gt', value: 100 }) };
    expect(await countsOf(change)).toMatchObject({ matched: 3, of: 5 });
    expect(await countsOf({ destination_id: id, filter_rules: null })).toMatchObject({ matched: 5, of: 5 });
    expect(await countsOf({ destination_id: id, regions: ['us'] })).toMatchObject({ matched: 0, of: 5 });
  });

  it('agrees with the workspace of the destination only', async () => {
    const { id } = await createDestination(app, { url: 'https://example.com/traces' });
    const { body } = await ask(app, 'post', '/workspaces', { body: { name: 'Other', slug: 'other' } });
    const response = await preview({ destination_id: id, workspace_id: body.data.id });
    expectError(response, 400, /workspace_id: must be that of the destination/);
    expect(await countsOf({ workspace_id: body.data.id })).toEqual({ matched: 0, of: 0, content_gone: 0 });
  });

  it('counts no generation of another account', async () => {
    await recordGenerations(app, 2);
    const other = await app.createAccount();
    const { body } = await preview({}, other.managementKey);
    expect(body.data).toEqual({ matched: 0, of: 0, content_gone: 0 });
    expectError(await preview({ workspace_id: app.workspaceId }, other.managementKey), 400, /workspace/);
  });

  it('names the rule that is wrong', async () => {
    const wrong = (value: unknown, operator = 'regex') =>
      preview(filterOf({ field: 'model', operator: 'exists' }, { field: 'model', operator, value }));
    const path = /filter_rules\.groups\[0\]\.rules\[1\]\.value/;
    expectError(await wrong('('), 400, path);
    expectError(await wrong('(a{1000}){1000}'), 400, path);
    expectError(await wrong('many', 'gt'), 400, path);
  });

  it('answers 403 to a key that is not a management key', async () => {
    expectError(await preview({}, app.apiKey), 403, /management/);
  });
});
