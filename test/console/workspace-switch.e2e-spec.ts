// The choice of the workspace in the console: what it shows, and what of a page it keeps.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInChromium, expectAccessible, openConsole, visit } from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { askFor } from '../support/requests/admin.js';
import { embed, LOCAL } from '../support/requests/create-embedding.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describeInChromium('the choice of the workspace', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
    // Pages ask for what the unknown workspace has.
    session.expectStatus(400);
    session.expectStatus(404);
  });
  afterAll(() => setup.close());

  const choice = () => page.getByRole('banner').getByRole('combobox', { name: 'Workspace' });
  const chosen = async () => (await choice().locator('option:checked').textContent()) ?? '';
  const searchOf = () => new URL(page.url()).search;

  it('shows that the one of the address is unknown, and leaves it for the only one there is', async () => {
    await visit(page, `/playground?workspace=${UNKNOWN}`, 'Playground');
    await choice().getByRole('option', { name: 'Unknown workspace' }).waitFor({ state: 'attached' });
    expect(await chosen()).toBe('Unknown workspace');
    await expectAccessible(page);
    await choice().selectOption(setup.app.workspaceId);
    await page.waitForURL((url) => url.search === '');
    await page.getByLabel('Key to charge').waitFor();
    expect(await choice().getByRole('option').allTextContents()).not.toContain('Unknown workspace');
    expect(session.complaints).toEqual([]);
  });

  describe('with another workspace', () => {
    let other: string;
    beforeAll(async () => {
      const body = { name: 'Research', slug: 'research' };
      const { data } = await askFor<{ data: { id: string } }>(201, setup.app, 'post', '/workspaces', {
        body,
      });
      other = data.id;
    });

    it.each([
      ['/?range=week&by=key&measure=spend', 'Overview', '?range=week&by=key&measure=spend'],
      ['/playground?operation=chat', 'Playground', '?operation=chat'],
      ['/generations?status=error&key=ab&session=s&user=u', 'Generations', '?status=error'],
      ['/audit?action=create&object=4f', 'Audit log', '?action=create'],
    ])('keeps of %s what holds in every workspace', async (path, heading, kept) => {
      await visit(page, path, heading);
      await choice().selectOption({ label: 'Research' });
      await page.waitForURL((url) => url.searchParams.get('workspace') === other);
      expect(searchOf()).toBe(`${kept}&workspace=${other}`);
      await choice().selectOption(setup.app.workspaceId);
      await page.waitForURL((url) => !url.searchParams.has('workspace'));
      expect(searchOf()).toBe(kept);
    });

    it('shows keys, calls, usage and the overview of all workspaces', async () => {
      const { app } = setup;
      const { secret } = await app.createKey({ name: 'Of research', workspaceId: other });
      expect((await embed(app, { model: LOCAL, input: 'a text' }, secret)).status).toBe(200);
      expect((await embed(app, { model: LOCAL, input: 'a text' })).status).toBe(200);
      await visit(page, '/generations', 'Generations');
      await choice().selectOption({ label: 'All workspaces' });
      const rows = page.getByRole('table', { name: 'Generations' }).getByRole('row');
      await rows.filter({ hasText: 'Of research' }).getByText('Research', { exact: true }).waitFor();
      await rows.filter({ hasText: 'Test key' }).first().waitFor();
      await expectAccessible(page);
      const go = (name: string) => page.getByRole('link', { name, exact: true }).first().click();
      await go('Keys');
      await page.getByRole('link', { name: 'Of research' }).waitFor();
      await page.getByRole('link', { name: 'Test key', exact: true }).first().waitFor();
      await page.getByRole('link', { name: 'Of research' }).click();
      await page.getByRole('heading', { level: 1, name: 'Of research' }).waitFor();
      expect(await chosen()).toBe('All workspaces');
      await go('Overview');
      await page.locator('dl > div', { hasText: 'Calls' }).getByText('2', { exact: true }).waitFor();
      await go('Usage');
      await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
      expect(await chosen()).toBe('All workspaces');
      // Destinations are those of one workspace.
      await go('Destinations');
      await page.getByRole('heading', { level: 1, name: 'Destinations' }).waitFor();
      expect(await chosen()).toBe('Default');
      expect(session.complaints).toEqual([]);
    });

    it('keeps a form that is filled in, but not the keys that it had chosen', async () => {
      await visit(page, '/destinations/new?kind=webhook', 'Add Webhook');
      await page.getByLabel('Name', { exact: true }).fill('Our traces');
      await page.getByLabel('URL').fill('https://example.com/traces');
      await page.getByLabel('Only some keys').check();
      await page.getByLabel('Test key').check();
      await page.getByText('1 chosen.').waitFor();
      await choice().selectOption({ label: 'Research' });
      await page.getByText('Choose at least one key.').waitFor();
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Our traces');
      expect(await page.getByLabel('URL').inputValue()).toBe('https://example.com/traces');
      expect(session.complaints).toEqual([]);
    });
  });
});
