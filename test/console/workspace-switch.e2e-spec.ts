// The choice of the workspace in the console, and the one that it shows.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInChromium, expectAccessible, openConsole, visit } from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';

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
});
