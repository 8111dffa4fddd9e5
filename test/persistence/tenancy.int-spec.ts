// Checks of the database itself, independent of the code: an object never leaves its account.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { hashKeySecret } from '../../src/domain/keys/api-key.js';
import { AccountsRepository } from '../../src/persistence/workspaces/accounts.repository.js';
import { ApiKeysRepository } from '../../src/persistence/keys/api-keys.repository.js';
import { UniqueViolation } from '../../src/persistence/database/database-errors.js';
import { createTestApp } from '../support/app/app.js';
import type { TestAccount, TestApp } from '../support/app/app.js';

const FOREIGN_KEY = '23503';
const UNIQUE = '23505';
const CHECK = '23514';

let app: TestApp;
let other: TestAccount;
beforeAll(async () => {
  app = await createTestApp();
  other = await app.createAccount();
});
afterAll(() => app.close());

/** The SQLSTATE with which a transaction of these statements fails, or null. */
async function rejectionOf(
  ...statements: readonly (readonly [string, unknown[]?])[]
): Promise<string | null> {
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  try {
    await client.query('BEGIN');
    for (const [text, values] of statements) await client.query(text, values ?? []);
    await client.query('COMMIT');
    return null;
  } catch (error) {
    return (error as pg.DatabaseError).code ?? String(error);
  } finally {
    await client.end();
  }
}

const insertKey = (
  accountId: string,
  workspaceId: string,
  overrides: Readonly<Record<string, unknown>> = {},
) => {
  const row = {
    id: randomUUID(),
    account_id: accountId,
    workspace_id: workspaceId,
    hash: hashKeySecret(randomUUID()),
    kind: 'inference',
    name: 'n',
    label: 'l',
    ...overrides,
  };
  const names = Object.keys(row);
  return [
    `INSERT INTO api_keys (${names.join()}) VALUES (${names.map((_name, index) => `$${index + 1}`).join()})`,
    Object.values(row),
  ] as const satisfies [string, unknown[]];
};
const insertDestination = (accountId: string, workspaceId: string, slot = 1) =>
  [
    `INSERT INTO destinations (id, account_id, workspace_id, kind, type, slot, name, enabled, privacy_mode,
       broadcast_cost, broadcast_identity, broadcast_request_context, sampling_rate, config_ciphertext,
       config_encryption_key_id, updated_at)
     VALUES ($1, $2, $3, 'webhook', 'webhook', $4, 'n', true, false, false, false, false, 1, '\\x00', 'k', now())`,
    [randomUUID(), accountId, workspaceId, slot],
  ] as const satisfies [string, unknown[]];
const insertCredential = (accountId: string, workspaceId: string) =>
  [
    `INSERT INTO provider_credentials (id, account_id, workspace_id, provider, label, ciphertext, encryption_key_id)
     VALUES ($1, $2, $3, 'openai', 'l', '\\x00', 'k')`,
    [randomUUID(), accountId, workspaceId],
  ] as const satisfies [string, unknown[]];

describe('an object of one account in a workspace of another', () => {
  it.each([
    ['a key', insertKey],
    ['a destination', insertDestination],
    ['a provider credential', insertCredential],
  ])('is rejected: %s', async (_name, insert) => {
    expect(await rejectionOf(insert(app.accountId, other.workspaceId))).toBe(FOREIGN_KEY);
    expect(await rejectionOf(insert(other.accountId, app.workspaceId))).toBe(FOREIGN_KEY);
    expect(await rejectionOf(insert(app.accountId, randomUUID()))).toBe(FOREIGN_KEY);
    expect(await rejectionOf(insert(app.accountId, app.workspaceId))).toBeNull();
  });

  it.each(['api_keys', 'destinations', 'provider_credentials'])(
    'cannot result from a move: %s',
    async (table) => {
      for (const change of ['workspace_id = $2', 'account_id = $3']) {
        const rejection = await rejectionOf([
          `UPDATE ${table} SET ${change} WHERE account_id = $1 AND ($2::uuid IS NULL) = ($3::uuid IS NULL)`,
          [app.accountId, other.workspaceId, other.accountId],
        ]);
        expect(rejection).toBe(FOREIGN_KEY);
      }
    },
  );

  it('cannot result from a move of the workspace', async () => {
    const move: [string, unknown[]] = [
      'UPDATE workspaces SET account_id = $1, slug = $2 WHERE id = $3',
      [other.accountId, 'moved', app.workspaceId],
    ];
    expect(await rejectionOf(move)).toBe(FOREIGN_KEY);
  });

  it('cannot be created by the repository', async () => {
    const created = app.createKey({ workspaceId: other.workspaceId });
    await expect(created).rejects.toThrow();
    expect(
      await app.sql('SELECT 1 FROM api_keys WHERE account_id = $1 AND workspace_id = $2', [
        app.accountId,
        other.workspaceId,
      ]),
    ).toEqual([]);
  });
});

describe('an account', () => {
  const insertAccount = (id: string, workspaceId: string): [string, unknown[]] => [
    "INSERT INTO accounts (id, name, default_workspace_id) VALUES ($1, 'n', $2)",
    [id, workspaceId],
  ];
  const insertWorkspace = (id: string, accountId: string): [string, unknown[]] => [
    "INSERT INTO workspaces (id, account_id, name, slug) VALUES ($1, $2, 'n', $3)",
    [id, accountId, `slug-${id}`],
  ];

  it('without a default workspace is impossible', async () => {
    const [account, workspace] = [randomUUID(), randomUUID()];
    expect(await rejectionOf(insertAccount(account, workspace))).toBe(FOREIGN_KEY);
    expect(
      await rejectionOf([
        "INSERT INTO accounts (id, name, default_workspace_id) VALUES ($1, 'n', NULL)",
        [account],
      ]),
    ).toBe('23502');
    expect(
      await rejectionOf(insertAccount(account, workspace), insertWorkspace(workspace, account)),
    ).toBeNull();
  });

  it('with the default workspace of another account is impossible', async () => {
    expect(await rejectionOf(insertAccount(randomUUID(), app.workspaceId))).toBe(FOREIGN_KEY);
    expect(
      await rejectionOf([
        'UPDATE accounts SET default_workspace_id = $1 WHERE id = $2',
        [other.workspaceId, app.accountId],
      ]),
    ).toBe(FOREIGN_KEY);
  });

  it('cannot lose its default workspace without being deleted', async () => {
    const { id, defaultWorkspaceId } = await app.application.get(AccountsRepository).create('n');
    const remove: [string, unknown[]] = ['DELETE FROM workspaces WHERE id = $1', [defaultWorkspaceId]];
    expect(await rejectionOf(remove)).toBe(FOREIGN_KEY);
    expect(await rejectionOf(remove, ['DELETE FROM accounts WHERE id = $1', [id]])).toBeNull();
  });
});

describe('a key', () => {
  const keys = (): ApiKeysRepository => app.application.get(ApiKeysRepository);

  it('is created with a spend of zero', async () => {
    const { record } = await app.createKey();
    const found = await keys().find(app.accountId, record.hash);
    const nothing = { total: 0n, daily: 0n, weekly: 0n, monthly: 0n };
    expect(found!.spend).toEqual({ usage: nothing, byok: nothing });
    expect(await app.sql('SELECT 1 FROM key_spend WHERE api_key_id = $1', [record.id])).toHaveLength(1);
  });

  it('is found by its secret without an account, and by its hash only in its own account', async () => {
    const { secret, record } = await app.createKey();
    expect((await keys().findCaller(hashKeySecret(secret)))!.key).toEqual(record);
    expect(await keys().findCaller(hashKeySecret('sk-sb-v1-unknown'))).toBeNull();
    expect((await keys().find(app.accountId, record.hash))!.key).toEqual(record);
    expect(await keys().find(other.accountId, record.hash)).toBeNull();
  });

  it('with an existing secret is rejected in any account', async () => {
    const { secret } = await app.createKey();
    await expect(app.createKey({ secret })).rejects.toBeInstanceOf(UniqueViolation);
    await expect(
      app.createKey({ secret, accountId: other.accountId, workspaceId: other.workspaceId }),
    ).rejects.toBeInstanceOf(UniqueViolation);
  });

  it('leaves nothing behind when it is rejected', async () => {
    const { secret } = await app.createKey();
    const count = async () => (await app.sql('SELECT 1 FROM api_keys')).length;
    const before = await count();
    await expect(
      app.createKey({ secret, accountId: other.accountId, workspaceId: other.workspaceId }),
    ).rejects.toThrow();
    expect(await count()).toBe(before);
  });

  it.each([
    ['kind', 'admin'],
    ['limit_reset', 'yearly'],
    ['limit_amount', -1],
    ['hash', 'A'.repeat(64)],
    ['hash', 'a'.repeat(63)],
  ])('with the %s %j is rejected', async (column, value) => {
    expect(await rejectionOf(insertKey(app.accountId, app.workspaceId, { [column]: value }))).toBe(CHECK);
  });

  it('has a hash that is unique in its account', async () => {
    const { record } = await app.createKey();
    expect(await rejectionOf(insertKey(app.accountId, app.workspaceId, { hash: record.hash }))).toBe(UNIQUE);
  });

  it('has a secret that never reaches the database', async () => {
    const { secret, record } = await app.createKey();
    const rows = await app.sql('SELECT api_keys, api_key_secrets FROM api_keys, api_key_secrets');
    expect(JSON.stringify(rows)).toContain(record.hash);
    expect(JSON.stringify(rows)).not.toContain(secret.slice(-20, -4));
  });
});
