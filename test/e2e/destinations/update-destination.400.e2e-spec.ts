// PATCH /observability/destinations/{id}: rejected bodies, which leave the destination unchanged.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { WEBHOOK } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';
import { ScriptedResolver } from '../../support/app/name-resolver.js';

const PATH = '/observability/destinations';
const FIXED = 'cannot be changed here; omit it, or send the value of the record';
const UNKNOWN_HASH = 'ab'.repeat(32);

const regexRules = (count: number) =>
  Array.from({ length: count }, (_value, index) => ({
    field: 'model',
    operator: 'regex',
    value: `^m${index}`,
  }));

let app: TestApp;
let id: string;
let record: unknown;
beforeAll(async () => {
  app = await createTestApp({
    environment: { DESTINATION_ALLOWED_CIDRS: '' },
    resolver: new ScriptedResolver().script('inside.example', ['10.0.0.7']),
  });
  const created = await askFor<{ data: { id: string } }>(201, app, 'post', PATH, { body: WEBHOOK });
  ({ id } = created.data);
  record = created.data;
});
afterAll(() => app.close());

describe('400', () => {
  it.each([
    [{ type: 'langfuse' }, `type: ${FIXED}`],
    [{ workspace_id: UNKNOWN_HASH }, `workspace_id: ${FIXED}`],
    [{ privacy_mod: true }, 'privacy_mod: is not a member of this object'],
    [{ name: null }, 'name: must be a string'],
    [{ enabled: null }, 'enabled: must be a boolean'],
    [{ sampling_rate: 0 }, 'sampling_rate: must be at least 0.0001'],
    [{ sampling_rate: null }, 'sampling_rate: must be a number'],
    [{ regions: [] }, 'regions: must have at least 1 element'],
    [{ regions: null }, 'regions: must be an array'],
    [{ api_key_hashes: [] }, 'api_key_hashes: must have at least 1 element, or be null for all keys'],
    [{ api_key_hashes: [UNKNOWN_HASH] }, `api_key_hashes: no such key: ${UNKNOWN_HASH}`],
    [{ filter_rules: {} }, 'filter_rules.groups: must be an array'],
    [{ config: null }, 'config: must be an object'],
    [{ config: [] }, 'config: must be an object'],
    [{ config: { urls: 'x' } }, 'config.urls: is not a member of this object'],
    [{ config: { url: null } }, 'config.url: must be a string'],
    [{ config: { method: 'GET' } }, 'config.method: must be one of POST, PUT'],
    [{ config: { headers: 'X-A: b' } }, 'config.headers: must be an object of strings'],
    [{ config: { headers: { Host: 'x' } } }, 'config.headers: must not set Host'],
    [{ config: { url: 'https://inside.example/x' } }, 'config: inside.example leads to a private address'],
  ])('is returned for %j', async (body, detail) => {
    const response = await ask(app, 'patch', `${PATH}/${id}`, { body });
    expectError(response, 400, `Invalid request parameters: ${detail}`);
    expect((await askFor<{ data: unknown }>(200, app, 'get', `${PATH}/${id}`)).data).toEqual(record);
  });

  it('is returned for more than 20 rules with the operator regex, in a change and at the creation', async () => {
    const rules = {
      groups: [{ rules: regexRules(11) }, { rules: regexRules(10) }],
    };
    const detail =
      'Invalid request parameters: filter_rules.groups: must have at most 20 rules with the operator regex';
    const body = { filter_rules: rules };
    expectError(await ask(app, 'patch', `${PATH}/${id}`, { body }), 400, detail);
    expectError(await ask(app, 'post', PATH, { body: { ...WEBHOOK, ...body } }), 400, detail);
    const allowed = { filter_rules: { groups: [{ rules: regexRules(20) }] } };
    expect((await ask(app, 'patch', `${PATH}/${id}`, { body: allowed })).status).toBe(200);
  });
});

describe('regular expressions', () => {
  it('are rejected before compilation when they are too large together', async () => {
    const value = '[a-z]{900}';
    const rule = (field: string) => ({ field, operator: 'regex', value });
    const body = {
      filter_rules: { groups: [{ rules: ['model', 'input'].map(rule) }, { rules: [rule('model')] }] },
    };
    expectError(
      await ask(app, 'patch', `${PATH}/${id}`, { body }),
      400,
      'Invalid request parameters: filter_rules.groups: has regular expressions that come to some 2706 instructions ' +
        'together, at most 2500 are allowed',
    );
  });
});

describe('a deleted key', () => {
  it('may stay among the hashes, and cannot be added', async () => {
    const { record: key } = await app.createKey();
    await ask(app, 'patch', `${PATH}/${id}`, { body: { api_key_hashes: [key.hash] } });
    expect((await ask(app, 'delete', `/keys/${key.hash}`)).status).toBe(200);
    const body = { api_key_hashes: [key.hash, app.key.hash] };
    expect((await ask(app, 'patch', `${PATH}/${id}`, { body })).status).toBe(200);
    await ask(app, 'patch', `${PATH}/${id}`, { body: { api_key_hashes: null } });
    expectError(
      await ask(app, 'patch', `${PATH}/${id}`, { body }),
      400,
      `Invalid request parameters: api_key_hashes: no such key: ${key.hash}`,
    );
  });
});
