// POST /auth/keys/code by a person: the key is the person's own, and ends with the person.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSessionId, hashSessionId, sessionCookie } from '../../../src/domain/people/console-session.js';
import { createPersonId } from '../../../src/domain/people/person.js';
import type { AccountRole } from '../../../src/domain/people/person.js';
import { Installation } from '../../../src/persistence/database/installation.js';
import { ConsoleSessionsRepository } from '../../../src/persistence/keys/console-sessions.repository.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { ask } from '../../support/requests/admin.js';
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

interface SignedIn {
  readonly id: string;
  readonly cookie: string;
}

async function signInAs(role: AccountRole): Promise<SignedIn> {
  const id = createPersonId();
  await app.sql(
    `INSERT INTO persons (account_id, id, issuer, subject, email, hand_role)
     VALUES ($1, $2, 'https://issuer.example.com', $2, $3, $4)`,
    [app.accountId, id, `${role}@example.com`, role],
  );
  const session = createSessionId();
  const now = app.clock.now();
  await app.application.get(ConsoleSessionsRepository).createForPerson(
    { accountId: app.accountId, id },
    {
      idHash: hashSessionId(session),
      secretHash: null,
      personId: id,
      createdAt: now,
      lastSeenAt: now,
      endsAt: new Date(now.getTime() + 3_600_000),
    },
  );
  const tag = await app.application.get(Installation).tag();
  const [cookie = ''] = sessionCookie(session, { host: 'localhost' }, tag).split(';');
  return { id, cookie };
}

const consent = ({ cookie }: SignedIn) =>
  app.http
    .post('/api/v1/auth/keys/code')
    .set({ cookie, 'sec-fetch-site': 'same-origin', 'x-signalbox-console': '1' })
    .send({ ...GOOD, key_label: 'laptop' });
const exchange = (code: string) => app.http.post('/api/v1/auth/keys').send({ code, code_verifier: VERIFIER });
const codeOf = async (person: SignedIn): Promise<string> => {
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

  it.each(['viewer', 'developer'] as const)('is not made by a %s', async (role) => {
    expectError(await consent(await signInAs(role)), 403, /^Your role does not allow this operation/);
  });
});
