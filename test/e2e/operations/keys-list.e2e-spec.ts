// `npm run keys:list`, for a person at the terminal and for a program.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseUsd } from '../../../src/domain/spend/money.js';
import type { TestApp } from '../../support/app/app.js';
import { startCommand } from '../../support/app/commands.js';
import type { Command } from '../../support/app/commands.js';
import { embed, SMALL, startWithUpstream } from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';

let setup: Setup;
let app: TestApp;
let command: Command;
beforeAll(async () => {
  setup = await startWithUpstream();
  ({ app } = setup);
  command = startCommand('keys-list.js', app.databaseUrl);
});
afterAll(async () => {
  await command.close();
  await setup.close();
});

async function list(...options: string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const { code, stdout, stderr } = await command.run(...options);
  expect(code).toBe(0);
  return { stdout, stderr };
}

async function listJson(...options: string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await list('--json', ...options);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('the table', () => {
  it('has a line for each key, with the facts that operators need and no secret', async () => {
    const limited = await app.createKey({ name: 'Limited', limit: parseUsd('12.5'), limitReset: 'daily' });
    expect((await embed(app, { model: SMALL, input: 'hello' }, limited.secret)).status).toBe(200);
    await app.sql('UPDATE api_keys SET disabled = true WHERE id = $1', [app.key.id]);
    await app.createKey({ name: 'Old', expiresAt: new Date('2020-01-01T00:00:00Z') });
    const { stdout, stderr } = await list();
    const [title, ...lines] = stdout.trimEnd().split('\n');
    expect(title).toMatch(/^LABEL +NAME +KIND +STATUS +LIMIT +SPENT +EXPIRES +ACCOUNT +WORKSPACE +HASH$/);
    expect(lines).toHaveLength(4);
    const lineOf = (name: string) => lines.find((line) => line.includes(` ${name} `));
    expect(lineOf('Limited')).toMatch(/inference +active +12\.5 daily +0\.0{4,}\d+ +-/);
    expect(lineOf('Limited')).toContain(limited.record.hash);
    expect(lineOf('Old')).toMatch(/expired +- +0 +2020-01-01T00:00:00\.000Z/);
    expect(stdout).toMatch(/disabled/);
    expect(stdout).toContain(app.accountId);
    expect(stdout).toContain(app.workspaceId);
    for (const secret of [app.apiKey, app.managementKey, limited.secret])
      expect(stdout).not.toContain(secret);
    expect(stderr).toBe('');
  });

  it('contains no control characters of a name', async () => {
    await app.createKey({ name: 'evil\u001B[2Jname' });
    const { stdout } = await list();
    expect(stdout).toContain('evil?[2Jname');
    expect(stdout).not.toContain('\u001B');
  });
});

describe('the JSON', () => {
  it('is filtered by account, workspace and kind', async () => {
    const other = await app.createAccount();
    expect((await listJson('--account', other.accountId)).map(({ account_id: id }) => id)).toEqual([
      other.accountId,
      other.accountId,
    ]);
    const [key, ...rest] = await listJson('--workspace', other.workspaceId, '--management');
    expect(rest).toEqual([]);
    expect(key).toEqual({
      label: expect.stringMatching(/^sk-sb-v1-.{3}\.\.\./),
      name: 'Test key',
      kind: 'management',
      status: 'active',
      limit: null,
      limit_reset: null,
      spent_toward_limit: '0',
      spent: '0',
      spent_byok: '0',
      expires_at: null,
      created_at: expect.any(String),
      account_id: other.accountId,
      workspace_id: other.workspaceId,
      hash: expect.stringMatching(/^[\da-f]{64}$/),
    });
  });

  it('shows every key once over several pages', async () => {
    const all = (await listJson()).map(({ hash }) => hash);
    const { stderr } = await list('--limit', '2');
    expect(stderr).toBe('There are more: --offset 2\n');
    const pages: unknown[] = [];
    for (let offset = 0; offset < all.length; offset += 2) {
      const page = await listJson('--limit', '2', '--offset', String(offset));
      pages.push(...page.map(({ hash }) => hash));
    }
    expect(pages).toEqual(all);
    expect((await list('--offset', String(all.length - 1))).stderr).toBe('');
  });
});

it('prints its usage', async () => {
  expect((await list('--help')).stdout).toContain('Usage: npm run keys:list');
});

it.each([
  [['--limit', '0'], '--limit must be a whole number from 1 to 1000'],
  [['--limit', '1001'], '--limit must be a whole number from 1 to 1000'],
  [['--offset', 'x'], '--offset must be a whole number from 0 to 1000000000'],
  [['--account', 'x'], '--account must be a UUID'],
])('refuses %j in one line', async (options, message) => {
  expect(await command.run(...options)).toEqual({ code: 1, stdout: '', stderr: `${message}\n` });
});
