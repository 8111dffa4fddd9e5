// Choosing a key among more than a list has: expired and disabled ones hide no usable key, and a search finds the others.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInChromium, expectAccessible, openConsole, visit } from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import { embed, LOCAL } from '../support/requests/create-embedding.js';
import type { ConsoleSetup } from '../support/app/console-app.js';

const PAGE = 100;
const KEYS = '**/api/v1/keys?**';

describeInChromium('choosing a key', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
    // Newer than the only key that calls can be charged to.
    await addKeys('Switched off', PAGE, 'true, NULL');
    await addKeys('Management', PAGE, 'false, NULL', 'management');
    await addKeys('Expired', 1, `false, '2026-01-01'`);
  });
  afterAll(async () => {
    await session.close();
    await setup.close();
  });

  async function addKeys(name: string, count: number, state: string, kind = 'inference'): Promise<void> {
    await setup.app.sql(
      `INSERT INTO api_keys (id, account_id, workspace_id, hash, kind, name, label, created_at, disabled, expires_at)
       SELECT gen_random_uuid(), $1, $2, encode(sha256(($3 || n)::bytea), 'hex'), $4, $3 || ' ' || n, 'l',
         now() + n * interval '1 second', ${state} FROM generate_series(1, ${count}) AS n`,
      [setup.app.accountId, setup.app.workspaceId, name, kind],
    );
  }

  const payer = () => page.getByLabel('Key to charge');
  const chosenText = () => payer().locator('option:checked').textContent();

  it('the guide knows the key that works', async () => {
    await visit(page, '/', 'Overview');
    await page.getByRole('heading', { name: /^Create a key\s*, done$/ }).waitFor();
  });

  it('the playground charges the key that works', async () => {
    await visit(page, '/playground', 'Playground');
    expect(await payer().locator('option').count()).toBe(1);
    expect(await chosenText()).toContain('Test key');
    await page.getByRole('button', { name: 'Embed 3 texts' }).click();
    await page.getByText('Cosine similarity').waitFor();
    expect(session.complaints).toEqual([]);
  });

  it('the playground finds a key by a part of its name, and keeps it', async () => {
    await addKeys('Team', PAGE + 1, 'false, NULL');
    await visit(page, '/playground', 'Playground');
    const offered = await payer().locator('option').count();
    expect(offered).toBeGreaterThan(1);
    expect(offered).toBeLessThanOrEqual(PAGE);
    expect(await chosenText()).not.toContain('Test key');
    const search = page.getByLabel('Search keys by name');
    await search.fill('no such key');
    await page.getByText('No key that can be charged has this name.').waitFor();
    expect(await payer().locator('option').count()).toBe(1);
    await search.fill('TEST KEY');
    await search.press('Enter');
    const { hash } = setup.app.key;
    await payer().locator(`option[value="${hash}"]`).waitFor({ state: 'attached' });
    await payer().selectOption(hash);
    await search.fill('');
    await payer().locator('option').nth(offered).waitFor({ state: 'attached' });
    expect(await chosenText()).toContain('Test key');
    await expectAccessible(page);
    const [request] = await Promise.all([
      page.waitForRequest('**/console/playground/**'),
      page.getByRole('button', { name: 'Embed 3 texts' }).click(),
    ]);
    expect(request.url()).toContain(hash);
    await page.getByText('Cosine similarity').waitFor();
  });

  it('a provider key is restricted to one that only a search finds', async () => {
    await visit(page, '/provider-keys', 'Provider keys');
    await page.getByRole('button', { name: 'Add provider key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('radio', { name: 'Only some keys' }).check();
    await dialog.getByText('There are further keys. Search for them by name.').waitFor();
    expect(await dialog.getByRole('checkbox', { name: 'Test key' }).count()).toBe(0);
    const search = dialog.getByRole('searchbox', { name: 'Search keys by name' });
    await search.fill('no such key');
    await dialog.getByText('No key has this name.').waitFor();
    await search.fill('test key');
    await dialog.getByRole('checkbox', { name: 'Test key' }).check();
    await dialog.getByText('1 chosen.').waitFor();
    await search.fill('');
    await dialog.getByText('There are further keys. Search for them by name.').waitFor();
    expect(await dialog.getByRole('checkbox', { name: 'Test key' }).isChecked()).toBe(true);
    await dialog.getByRole('radio', { name: 'All keys' }).check();
    await dialog.getByRole('radio', { name: 'Only some keys' }).check();
    await dialog.getByText('1 chosen.').waitFor();
    await expectAccessible(page);
    expect(session.complaints).toEqual([]);
  });

  it('an old key has its name in lists of calls, and filters them', async () => {
    await addKeys('Newer', PAGE + 1, 'false, NULL');
    expect((await embed(setup.app, { model: LOCAL, input: 'one' })).status).toBe(200);
    await visit(page, '/?by=key', 'Overview');
    await page.getByRole('link', { name: 'Test key' }).click();
    await page.getByRole('heading', { name: 'Generations' }).waitFor();
    const key = page.getByRole('combobox', { name: 'Key', exact: true });
    await key.locator('option:checked', { hasText: 'Test key' }).waitFor({ state: 'attached' });
    expect(await key.inputValue()).toBe(setup.app.key.hash);
    await key.locator('option:disabled', { hasText: 'Older keys' }).waitFor({ state: 'attached' });
    await page.getByRole('cell', { name: 'Test key' }).first().waitFor();
    await expectAccessible(page);
    expect(session.complaints).toEqual([]);
  });

  it('says that the keys could not be loaded, and loads them again', async () => {
    session.expectStatus(500);
    await visit(page, '/provider-keys', 'Provider keys');
    await page.route(KEYS, (route) =>
      route.fulfill({ status: 500, json: { error: { code: 500, message: 'Out of order' } } }),
    );
    await page.getByRole('button', { name: 'Add provider key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('radio', { name: 'Only some keys' }).check();
    await dialog.getByText('Out of order').waitFor();
    expect(await dialog.getByText('No key has this name.').count()).toBe(0);
    await page.unrouteAll();
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByRole('list', { name: 'Keys' }).getByRole('checkbox').first().waitFor();
  });
});
