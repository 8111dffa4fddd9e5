// An account whose default workspace was deleted: keys can be created and listed, and `npm start` starts.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp, TEST_ENCRYPTION_KEY } from '../../support/app/app.js';
import type { TestAccount, TestApp } from '../../support/app/app.js';
import { startCommand } from '../../support/app/commands.js';
import type { Command } from '../../support/app/commands.js';
import { expectError } from '../../support/requests/error-shape.js';

const built = (path: string): string =>
  JSON.stringify(new URL(`../../../dist/${path}`, import.meta.url).href);

interface CreatedWorkspace {
  readonly data: { readonly id: string };
}
interface KeyList {
  readonly data: readonly { readonly hash: string; readonly is_management_key: boolean }[];
}

let app: TestApp;
let command: Command;
let account: TestAccount;
let asAccount: { readonly key: string };
beforeAll(async () => {
  app = await createTestApp();
  command = startCommand('keys-create.js', app.databaseUrl);
});
beforeEach(async () => {
  account = await app.createAccount();
  asAccount = { key: account.managementKey };
});
afterAll(async () => {
  await command.close();
  await app.close();
});

const DELETION = '/workspaces/default?confirm_default_workspace_deletion=true';

/** The standard output of a program that has the built service. */
async function runProgram(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: app.databaseUrl,
      ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY,
    },
  });
  return stdout;
}

/** A management key of the account by the command; answers its secret. */
async function createKey(...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await command.run(
    '--management',
    '--account',
    account.accountId,
    ...options,
  );
  if (code !== 0) throw new Error(stderr);
  return /^key: +(\S+)$/m.exec(stdout)?.[1] ?? '';
}
const workspaceOf = async (key: string): Promise<string> =>
  (await askFor<{ data: { workspace_id: string } }>(200, app, 'get', '/key', { key })).data.workspace_id;
const createWorkspace = async (slug: string): Promise<string> => {
  const body = { name: slug, slug };
  return (await askFor<CreatedWorkspace>(201, app, 'post', '/workspaces', { ...asAccount, body })).data.id;
};

describe('npm run keys:create', () => {
  it('uses the default workspace while it exists, or the named one', async () => {
    const other = await createWorkspace('other');
    expect(await workspaceOf(await createKey())).toBe(account.workspaceId);
    expect(await workspaceOf(await createKey('--workspace', other.toUpperCase()))).toBe(other);
  });

  it('uses the oldest of the others', async () => {
    const older = await createWorkspace('older');
    app.clock.advance(1_000);
    await createWorkspace('younger');
    await askFor(200, app, 'delete', DELETION, asAccount);
    expect(await workspaceOf(await createKey())).toBe(older);
  });

  it('creates a default workspace when all are deleted', async () => {
    await askFor(200, app, 'delete', DELETION, asAccount);
    const key = await createKey();
    const { data } = await askFor<CreatedWorkspace>(200, app, 'get', '/workspaces/default', { key });
    expect(await workspaceOf(key)).toBe(data.id);
    const body = { name: 'Of the default workspace' };
    const created = await askFor<{ data: object }>(201, app, 'post', '/keys', { key, body });
    expect(created.data).toMatchObject({ workspace_id: data.id });
  });

  it.each([
    ['x', /--workspace must be a UUID/],
    [randomUUID(), /no such workspace/],
  ])('rejects the workspace %s', async (workspace, problem) => {
    await expect(createKey('--workspace', workspace)).rejects.toThrow(problem);
  });
});

it('recreates the first keys of npm start', async () => {
  const [first] = await app.sql<{ id: string }>('SELECT id FROM accounts ORDER BY created_at, id LIMIT 1');
  await app.sql('UPDATE workspaces SET deleted_at = now(), slug = NULL WHERE account_id = $1', [first?.id]);
  const stdout = await runProgram(`
    const { ensureQuickstartKeys } = await import(${built('runtime/quickstart.js')});
    process.stdout.write(JSON.stringify(await ensureQuickstartKeys({ databaseUrl: process.env.DATABASE_URL })));
  `);
  const { managementKey, apiKey } = JSON.parse(stdout) as { managementKey: string; apiKey: string };
  expect(await workspaceOf(managementKey)).toBe(await workspaceOf(apiKey));
});

describe('GET /keys', () => {
  it('lists the keys of the deleted workspace, by default and by name', async () => {
    await askFor(200, app, 'delete', DELETION, asAccount);
    const list = (query: string): Promise<KeyList> => askFor(200, app, 'get', `/keys${query}`, asAccount);
    expect((await list('')).data).toMatchObject([{ is_management_key: true }]);
    for (const query of ['', `&workspace_id=${account.workspaceId}`]) {
      expect((await list(`?include_disabled=true${query}`)).data).toHaveLength(2);
    }
  });

  it('returns 400 for the workspace of another account', async () => {
    const answer = await ask(app, 'get', `/keys?workspace_id=${app.workspaceId}`, asAccount);
    expectError(answer, 400, /no such workspace$/);
  });
});
