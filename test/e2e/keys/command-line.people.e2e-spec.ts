// POST /auth/keys/code by a person: the key is the person's own, and ends with the person.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AccountRole } from '../../../src/domain/people/person.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { createPerson } from '../../support/app/people.js';
import type { TestPerson } from '../../support/app/people.js';
import { eventually } from '../../support/eventually.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { expectError } from '../../support/requests/error-shape.js';

const VERIFIER = 'a-verifier-of-a-program-on-a-laptop-0123456789';
const GOOD = {
  callback_url: 'http://localhost:8976/callback',
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
  code_challenge_method: 'S256',
};

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const signInAs = (account: AccountRole): Promise<TestPerson> => createPerson(app, { account });

const consent = ({ cookie }: TestPerson, body: object = {}) =>
  app.http
    .post('/api/v1/auth/keys/code')
    .set({ cookie, 'sec-fetch-site': 'same-origin', 'x-signalbox-console': '1' })
    .send({ ...GOOD, key_label: 'laptop', ...body });
const exchange = (code: string) => app.http.post('/api/v1/auth/keys').send({ code, code_verifier: VERIFIER });
const codeOf = async (person: TestPerson): Promise<string> => {
  const response = await consent(person);
  expect(response.status).toBe(200);
  return (response.body as { data: { id: string } }).data.id;
};

describe('the code of a person', () => {
  it('is exchanged for a key of the person, which another sign-in rotates and which ends with the person', async () => {
    const person = await signInAs('admin');
    const first = await exchange(await codeOf(person));
    expect([first.status, first.body]).toEqual([200, { key: expect.any(String), user_id: person.id }]);
    const { key } = (await exchange(await codeOf(person))).body as { key: string };
    expect(
      await app.sql('SELECT name, ends_with_creator FROM api_keys WHERE creator_user_id = $1', [person.id]),
    ).toEqual([{ name: 'laptop', ends_with_creator: true }]);
    const statusOf = async () => (await ask(app, 'get', '/key', { key })).status;
    expect(await statusOf()).toBe(200);
    const unused = await codeOf(person);
    await app.sql('UPDATE persons SET disabled_at = $2 WHERE id = $1', [person.id, app.clock.now()]);
    await eventually(statusOf, (status) => status === 401);
    expectError(await exchange(unused), 403, 'Code not accepted');
  });

  it('is shared with no other maker of the same label', async () => {
    const people = [await signInAs('owner'), await signInAs('admin')];
    for (const person of people) expect((await exchange(await codeOf(person))).status).toBe(200);
    const rows = await app.sql("SELECT 1 FROM api_keys WHERE name = 'laptop' AND creator_user_id = ANY($1)", [
      people.map(({ id }) => id),
    ]);
    expect(rows).toHaveLength(2);
  });

  it('is spent when the role is gone before the program exchanges it', async () => {
    const person = await signInAs('admin');
    const code = await codeOf(person);
    await app.sql("UPDATE persons SET hand_role = 'viewer' WHERE id = $1", [person.id]);
    expectError(await exchange(code), 403, 'Code not accepted');
  });

  it('is not made by a viewer, nor by a developer without an own-key policy', async () => {
    expectError(await consent(await signInAs('viewer')), 403, /^Your role does not allow this operation/);
    expectError(await consent(await signInAs('developer')), 403, /developers make no keys in this workspace/);
  });

  it('of a developer is within the own-key policy, at the consent and at the exchange', async () => {
    const policy = {
      enabled: true,
      max_keys: 1,
      default_limit: 5,
      max_limit: 20,
      limit_reset: 'monthly',
      max_days: 30,
      include_byok_in_limit: true,
    };
    const path = '/workspaces/default/own-key-policy';
    const setPolicy = (body: object) => askFor(200, app, 'put', path, { body });
    await setPolicy(policy);
    const person = await signInAs('developer');
    expectError(await consent(person, { limit: 21 }), 403, /limit: must be at most 20/);
    expectError(await consent(person, { usage_limit_type: 'daily' }), 403, /limit_reset/);
    expectError(await consent(person, { expires_at: null }), 403, /expires_at/);
    expect((await exchange(await codeOf(person))).status).toBe(200);
    const [row] = await app.sql(
      `SELECT limit_amount::float8 AS "limit", limit_reset AS reset, include_byok_in_limit AS byok,
         (extract(epoch FROM expires_at - created_at) / 86400)::integer AS days
       FROM api_keys WHERE creator_user_id = $1`,
      [person.id],
    );
    expect(row).toEqual({ limit: 5, reset: 'monthly', byok: true, days: 30 });
    // Another label is another key.
    const second = (await consent(person, { key_label: 'second' })).body as { data: { id: string } };
    expectError(await exchange(second.data.id), 409, /own-key policy allows 1 keys/);
    const code = await codeOf(person);
    await setPolicy({ ...policy, default_limit: 1, max_limit: 2 });
    expectError(await exchange(code), 403, /limit: must be at most 2/);
  });
});
