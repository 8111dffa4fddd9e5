// Access tokens of keys: their rights, their end and their limits.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { hashKeySecret } from '../../../src/domain/keys/api-key.js';
import { createPersonId } from '../../../src/domain/people/person.js';
import { DeletedRows } from '../../../src/upkeep/deleted-rows.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { createPolicy, exchange, exchanged, formOf, goodClaims } from '../../support/federation/exchange.js';
import { createSigningKey } from '../../support/federation/issuer.js';
import type { SigningKey } from '../../support/federation/issuer.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { expectError } from '../../support/requests/error-shape.js';

const TOKEN = /^sk-sb-t1-[0-9a-f]{64}$/;
const REFUSED = { error: 'invalid_grant', error_description: 'the subject token is not accepted' };
const CHAT = { model: 'local/echo', messages: [{ role: 'user', content: 'words' }] };

let app: TestApp;
let replica: TestApp;
let key: SigningKey;
beforeAll(async () => {
  app = await createTestApp({
    environment: {
      RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '0',
      RATE_LIMIT_PUBLIC_PER_MINUTE: '0',
      RATE_LIMIT_CHANGES_PER_MINUTE: '0',
    },
  });
  replica = await app.startReplica();
  key = await createSigningKey('key-1');
});
afterAll(async () => {
  await replica.close();
  await app.close();
});

// An account has 50.
afterEach(() => app.sql('DELETE FROM federation_policies'));

const statusAt = async (one: TestApp, secret: string): Promise<number> =>
  (await ask(one, 'get', '/key', { key: secret })).status;
const becomes = (one: TestApp, secret: string, status: number) =>
  eventually(
    () => statusAt(one, secret),
    (found) => found === status,
  );
const chat = (secret: string) => ask(app, 'post', '/chat/completions', { body: CHAT, key: secret });

describe('an access token', () => {
  it('infers and reads, and can neither change its key, sign in nor be exchanged (V66)', async () => {
    const policy = await createPolicy(app, [key]);
    const token = await exchanged(app, policy.id, key);
    expect((await chat(token)).status).toBe(200);
    for (const path of ['/key', '/key/usage']) await askFor(200, app, 'get', path, { key: token });
    expectError(await ask(app, 'delete', `/keys/${app.key.hash}`, { key: token }), 401);
    expectError(await ask(app, 'post', `/keys/${app.key.hash}/rotate`, { key: token, body: {} }), 401);
    const signIn = await app.http
      .post('/console/session')
      .set({ 'sec-fetch-site': 'same-origin', 'x-signalbox-console': '1' })
      .send({ key: token });
    expect(signIn.status).toBe(401);
    const again = await exchange(app, formOf(policy.id, token));
    expect([again.status, again.body]).toEqual([401, REFUSED]);
    expect(await statusAt(app, token)).toBe(200);
  });

  it('names no record: its hash is no hash of the key', async () => {
    const policy = await createPolicy(app, [key]);
    const token = await exchanged(app, policy.id, key);
    expectError(await ask(app, 'get', `/keys/${hashKeySecret(token)}`), 404);
  });

  it('lives as long as the token that it was exchanged for, and ends on every replica with its policy (V67)', async () => {
    const policy = await createPolicy(app, [key]);
    const now = Math.floor(app.clock.now().getTime() / 1_000);
    const short = await exchange(
      app,
      formOf(policy.id, await key.sign({ ...goodClaims(app), exp: now + 40 })),
    );
    expect((short.body as { expires_in: number }).expires_in).toBeLessThanOrEqual(40);
    const token = await exchanged(app, policy.id, key);
    for (const one of [app, replica]) expect(await statusAt(one, token)).toBe(200);
    await askFor(200, app, 'patch', `/federation-policies/${policy.id}`, { body: { enabled: false } });
    await becomes(replica, token, 401);
    expect(await statusAt(app, token)).toBe(401);
    // Enabling the policy revives none.
    await askFor(200, app, 'patch', `/federation-policies/${policy.id}`, { body: { enabled: true } });
    expect(await statusAt(app, token)).toBe(401);
  });

  it.each<[string, (id: string, hash: string) => Promise<unknown>]>([
    ['its policy is deleted', (id) => askFor(200, app, 'delete', `/federation-policies/${id}`)],
    ['its audience changes', (id) => patch(id, { audience: 'https://other.example.com' })],
    [
      'its key is disabled',
      (_id, hash) => askFor(200, app, 'patch', `/keys/${hash}`, { body: { disabled: true } }),
    ],
    ['its key is deleted', (_id, hash) => askFor(200, app, 'delete', `/keys/${hash}`)],
  ])('ends when %s', async (_name, end) => {
    const { record } = await app.createKey();
    const policy = await createPolicy(app, [key], { api_key_hash: record.hash });
    const token = await exchanged(app, policy.id, key);
    expect(await statusAt(replica, token)).toBe(200);
    await end(policy.id, record.hash);
    await becomes(replica, token, 401);
    expect(await statusAt(app, token)).toBe(401);
  });

  it('ends, and is not issued any more, when the person who made its key is disabled', async () => {
    const person = createPersonId();
    await app.sql(
      "INSERT INTO persons (account_id, id, issuer, subject) VALUES ($1, $2, 'https://issuer.example.com', $2)",
      [app.accountId, person],
    );
    const { record } = await app.createKey({ creatorUserId: person, endsWithCreator: true });
    const policy = await createPolicy(app, [key], { api_key_hash: record.hash });
    const token = await exchanged(app, policy.id, key);
    await app.sql('UPDATE persons SET disabled_at = $2 WHERE id = $1', [person, app.clock.now()]);
    await becomes(replica, token, 401);
    const again = await exchange(app, formOf(policy.id, await key.sign(goodClaims(app))));
    expect([again.status, again.body]).toEqual([400, REFUSED]);
  });

  it('outlives a new name of its policy and a rotation of its key, and is no secret of the key', async () => {
    const { secret, record } = await app.createKey();
    const policy = await createPolicy(app, [key], { api_key_hash: record.hash });
    const token = await exchanged(app, policy.id, key);
    await patch(policy.id, { name: 'Renamed' });
    const { data } = await askFor<{ data: object }>(200, app, 'get', `/keys/${record.hash}`);
    expect(data).toMatchObject({ label: record.label, updated_at: null });
    await askFor(200, app, 'post', `/keys/${record.hash}/rotate`, { body: {} });
    expect([await statusAt(app, token), await statusAt(app, secret)]).toEqual([200, 200]);
    await askFor(200, app, 'post', `/keys/${record.hash}/rotate`, { body: { grace_period_seconds: 0 } });
    expect([await statusAt(app, token), await statusAt(app, secret)]).toEqual([200, 401]);
  });

  it('is over at its end, and upkeep removes it without a trace', async () => {
    const clocked = await createTestApp();
    try {
      const { record } = await clocked.createKey({ externalUser: 'partner' });
      const policy = await createPolicy(clocked, [key], { api_key_hash: record.hash, max_ttl_seconds: 60 });
      const token = await exchanged(clocked, policy.id, key);
      clocked.clock.advance(59_999);
      expect(await statusAt(clocked, token)).toBe(200);
      clocked.clock.advance(1);
      expect(await statusAt(clocked, token)).toBe(401);
      await clocked.application.get(DeletedRows).purge();
      expect(
        await clocked.sql('SELECT 1 FROM api_key_secrets WHERE federation_policy_id IS NOT NULL'),
      ).toEqual([]);
      expect(await clocked.sql('SELECT 1 FROM retired_secrets')).toEqual([]);
      expect(
        await clocked.sql('SELECT 1 FROM api_key_secrets WHERE api_key_id = $1', [record.id]),
      ).toHaveLength(1);
    } finally {
      await clocked.close();
    }
  });

  const patch = (id: string, body: object) =>
    askFor(200, app, 'patch', `/federation-policies/${id}`, { body });
});

describe('the limits of exchanges', () => {
  it('are 60 a minute of a policy, which other policies do not share', async () => {
    const policy = await createPolicy(app, [key]);
    const other = await createPolicy(app, [key]);
    const form = formOf(policy.id, await key.sign(goodClaims(app)));
    const statuses = [];
    for (let count = 0; count < 61; count++) statuses.push((await exchange(app, form)).status);
    expect(statuses).toEqual([...Array.from({ length: 60 }, () => 200), 429]);
    const limited = await exchange(app, form);
    expectError(limited, 429);
    expect(limited.body).toMatchObject({ error: 'temporarily_unavailable' });
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    expect(await exchanged(app, other.id, key)).toMatch(TOKEN);
  });

  it('are 1000 live tokens of a key, in all processes; ended ones do not count', async () => {
    const { record } = await app.createKey();
    const policy = await createPolicy(app, [key], { api_key_hash: record.hash });
    await app.sql(
      `INSERT INTO api_key_secrets (secret_hash, workspace_id, api_key_id, expires_at, federation_policy_id)
       SELECT encode(sha256(('token' || n)::bytea), 'hex'), $1, $2, $3::timestamptz + n * interval '1 second', $4
       FROM generate_series(-10, 996) AS n`,
      [record.workspaceId, record.id, app.clock.now(), policy.id],
    );
    const form = formOf(policy.id, await key.sign(goodClaims(app)));
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => exchange(index % 2 === 0 ? app : replica, form)),
    );
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual([
      ...Array.from({ length: 4 }, () => '200'),
      ...Array.from({ length: 6 }, () => '429'),
    ]);
  });
});
