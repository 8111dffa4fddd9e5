// Keys in the console: created with a limit, spent, refused; edited, rotated, disabled, deleted.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  describeInChromium,
  expectAccessible,
  openConsole,
  visit,
  waitUntilLoaded,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { askFor } from '../support/requests/admin.js';
import { embed, SMALL } from '../support/requests/create-embedding.js';

describeInChromium('keys in the console', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
  });
  afterAll(async () => {
    await setup.close();
  });

  const choose = async (name: string, action: string): Promise<void> => {
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: action }).click();
  };

  async function createKey(name: string, limit?: string): Promise<string> {
    await visit(page, '/keys', 'Keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await page.getByLabel('Name').fill(name);
    if (limit !== undefined) await page.getByLabel('Spend limit').fill(limit);
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    const secret = await page.getByTestId('secret').textContent();
    return secret ?? '';
  }

  it('shows a new secret once, with samples to copy', async () => {
    const secret = await createKey('Search team', '5');
    expect(secret).toMatch(/^sk-sb-v1-/);
    await expectAccessible(page);
    for (const language of ['TypeScript', 'Python', 'curl']) {
      await page.getByRole('tab', { name: language }).click();
      expect(await page.getByRole('tabpanel', { name: language }).textContent()).toContain(secret);
    }
    await page.getByRole('button', { name: 'Copy key' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'Search team' }).waitFor();
    expect(await page.content()).not.toContain(secret);
    expect((await embed(setup.app, { model: SMALL, input: 'a' }, secret)).status).toBe(200);
  });

  it('shows that a spent key is refused, and which limit refuses it', async () => {
    // Two inputs of the stub cost more.
    const secret = await createKey('Tiny budget', '0.00000004');
    await page.getByRole('button', { name: 'Done' }).click();
    const statuses: number[] = [];
    for (let call = 0; call < 5; call += 1) {
      statuses.push((await embed(setup.app, { model: SMALL, input: 'a' }, secret)).status);
    }
    expect(statuses.at(-1)).toBe(402);
    await visit(page, '/keys', 'Keys');
    const row = page.getByRole('row').filter({ hasText: 'Tiny budget' });
    await row.getByText('Lifetime limit').waitFor();
    const meter = row.getByRole('meter');
    expect(await meter.getAttribute('aria-valuetext')).toMatch(/^\$0\.0000000\d of \$0\.00000004$/);
    await page.getByRole('link', { name: 'Tiny budget' }).click();
    // The list has the same texts, and stays until the key has loaded.
    await page.getByRole('heading', { level: 1, name: 'Tiny budget' }).waitFor();
    await page.getByText('of $0.00000004', { exact: true }).waitFor();
    await page.getByText('Lifetime limit', { exact: true }).waitFor();
    await page.getByText('Reached', { exact: true }).waitFor();
  });

  it('puts a problem of the service beside its field', async () => {
    await visit(page, '/keys', 'Keys');
    session.expectStatus(400);
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await page.getByLabel('Name').fill('x'.repeat(1001));
    await page.getByLabel('Spend limit').fill('-1');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    const name = page.getByLabel('Name');
    await page.getByText(/1,?000/).waitFor();
    expect(await name.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('Spend limit').getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(page);
    await page.keyboard.press('Escape');
  });

  it('edits, disables, enables, rotates and deletes, and names the key before it does', async () => {
    const secret = await createKey('Indexer');
    await page.getByRole('button', { name: 'Done' }).click();
    await choose('Indexer', 'Edit');
    await page.getByLabel('Name').fill('Nightly indexer');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Nightly indexer' }).waitFor();

    await choose('Nightly indexer', 'Disable');
    const question = page.getByRole('alertdialog');
    await question.getByText('Nightly indexer').waitFor();
    await expectAccessible(page);
    await question.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Disabled', { exact: true }).waitFor();
    expect((await embed(setup.app, { model: SMALL, input: 'a' }, secret)).status).toBe(401);
    await choose('Nightly indexer', 'Enable');
    await page.getByText('Enabled Nightly indexer').waitFor();

    await choose('Nightly indexer', 'Rotate');
    await page.getByLabel('Grace period').selectOption({ label: 'None: the old key stops at once' });
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    const rotated = (await page.getByTestId('secret').textContent()) ?? '';
    await page.getByRole('button', { name: 'Done' }).click();
    expect((await embed(setup.app, { model: SMALL, input: 'a' }, secret)).status).toBe(401);
    expect((await embed(setup.app, { model: SMALL, input: 'a' }, rotated)).status).toBe(200);

    await choose('Nightly indexer', 'Delete');
    await question.getByText('Nightly indexer').waitFor();
    await question.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Deleted Nightly indexer').waitFor();
    await page.getByRole('link', { name: 'Nightly indexer' }).waitFor({ state: 'detached' });
    expect(session.complaints).toEqual([]);
  });

  it('offers the disabled keys of a workspace that has no others', async () => {
    const { app } = setup;
    const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
      body: { name: 'Retired', slug: 'retired' },
    });
    await app.createKey({ workspaceId: data.id, name: 'Former job' });
    await app.sql('UPDATE api_keys SET disabled = true WHERE workspace_id = $1', [data.id]);
    await visit(page, `/keys?workspace=${data.id}&disabled=hidden`, 'Keys');
    await page.getByText('All keys of the workspace are disabled').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Show disabled keys' }).click();
    await page.getByRole('link', { name: 'Former job' }).waitFor();
    expect(session.complaints).toEqual([]);
  });

  it('asks for no key that has been deleted from its page', async () => {
    const { record } = await setup.app.createKey({ name: 'Short-lived' });
    await visit(page, `/keys/${record.hash}`, 'Short-lived');
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'GET') asked.push(new URL(request.url()).pathname);
    });
    await choose('Short-lived', 'Delete');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await waitUntilLoaded(page);
    expect(asked).not.toContain(`/api/v1/keys/${record.hash}`);
    expect(session.complaints).toEqual([]);
  });
});
