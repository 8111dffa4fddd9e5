// Every route of destinations, keys and the audit log: objects of another account, and inference keys.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestAccount, TestApp } from '../../support/app/app.js';
import { WEBHOOK } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';

type Method = Parameters<typeof ask>[1];

const ONLY_MANAGEMENT = 'Only management keys can perform this operation';
const DESTINATIONS = '/observability/destinations';

let app: TestApp;
let other: TestAccount;
let destinationId: string;
beforeAll(async () => {
  app = await createTestApp({ environment: { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0' } });
  other = await app.createAccount();
  const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', DESTINATIONS, {
    body: WEBHOOK,
    key: other.managementKey,
  });
  destinationId = data.id;
});
afterAll(() => app.close());

const ID = ':destination';
const HASH = ':hash';
const pathOf = (template: string): string =>
  template.replace(ID, destinationId).replace(HASH, other.key.hash);

const OF_ONE_OBJECT: readonly [Method, string, object | null][] = [
  ['get', `${DESTINATIONS}/${ID}`, null],
  ['patch', `${DESTINATIONS}/${ID}`, { name: 'x' }],
  ['delete', `${DESTINATIONS}/${ID}`, null],
  ['get', `/keys/${HASH}`, null],
  ['patch', `/keys/${HASH}`, { name: 'x' }],
  ['post', `/keys/${HASH}/rotate`, {}],
  ['delete', `/keys/${HASH}`, null],
];
const OF_THE_ACCOUNT: readonly [Method, string, object | null][] = [
  ['get', DESTINATIONS, null],
  ['get', '/keys', null],
  ['get', '/audit', null],
];

describe('an object of another account', () => {
  it.each(OF_ONE_OBJECT)('returns 404 to %s %s', async (method, template, body) => {
    const response = await ask(app, method, pathOf(template), body ? { body } : {});
    expectError(response, 404, /^Resource not found: no (such destination|key has this hash)$/);
  });

  it('stays unchanged', async () => {
    const owner = { key: other.managementKey };
    const destination = await ask(app, 'get', `${DESTINATIONS}/${destinationId}`, owner);
    expect(destination.body).toMatchObject({ data: { name: WEBHOOK.name } });
    const key = await ask(app, 'get', `/keys/${other.key.hash}`, owner);
    expect(key.body).toMatchObject({ data: { name: 'Test key', updated_at: null } });
    expect((await ask(app, 'get', '/key', { key: other.apiKey })).status).toBe(200);
  });

  it('is reported with 400 as a workspace or key in a body', async () => {
    const { workspaceId, key } = other;
    const inWorkspace = /: workspace_id: no such workspace$/;
    expectError(await ask(app, 'get', `/keys?workspace_id=${workspaceId}`), 400, inWorkspace);
    expectError(
      await ask(app, 'post', '/keys', { body: { name: 'n', workspace_id: workspaceId } }),
      400,
      inWorkspace,
    );
    const mine = await askFor<{ data: { id: string } }>(201, app, 'post', DESTINATIONS, { body: WEBHOOK });
    const body = { api_key_hashes: [key.hash] };
    expectError(
      await ask(app, 'patch', `${DESTINATIONS}/${mine.data.id}`, { body }),
      400,
      `Invalid request parameters: api_key_hashes: no such key: ${key.hash}`,
    );
  });
});

describe('an inference key', () => {
  it.each([...OF_ONE_OBJECT, ...OF_THE_ACCOUNT])('gets 401 for %s %s', async (method, template, body) => {
    const request = body ? { body } : {};
    const path = pathOf(template);
    expectError(await ask(app, method, path, { ...request, key: other.apiKey }), 401, ONLY_MANAGEMENT);
    expectError(await ask(app, method, path, { ...request, key: 'unknown' }), 401, 'Invalid credentials');
  });

  it.each([
    [DESTINATIONS, WEBHOOK],
    ['/keys', { name: 'n' }],
  ])('gets 403 for post %s', async (path, body) => {
    expectError(await ask(app, 'post', path, { body, key: app.apiKey }), 403, ONLY_MANAGEMENT);
    expectError(await ask(app, 'post', path, { body, key: 'unknown' }), 401, 'Invalid credentials');
  });
});
