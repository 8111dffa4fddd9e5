// Lists of the console that change while they are shown: by another user between two pages, and by a change of one row.
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  describeInChromium,
  expectAccessible,
  holdRequests,
  openConsole,
  visit,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { askFor } from '../support/requests/admin.js';

const KEYS = 250;

describeInChromium('lists that change', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    const { app } = setup;
    await app.sql(
      `INSERT INTO api_keys (id, account_id, workspace_id, hash, kind, name, label, created_at)
       SELECT gen_random_uuid(), $1, $2, encode(sha256(('many' || n)::bytea), 'hex'), 'inference', 'Key ' || n, 'l',
         now() - n * interval '1 second' FROM generate_series(1, ${KEYS}) AS n`,
      [app.accountId, app.workspaceId],
    );
    for (const name of ['First', 'Second']) {
      await askFor(201, app, 'post', '/byok', {
        body: { provider: 'cohere', key: 'co-0123456789abcdef', name },
      });
    }
    const workspace = `/workspaces/${app.workspaceId}`;
    await askFor(200, app, 'post', `${workspace}/members/add`, { body: { user_ids: ['user_a', 'user_b'] } });
    session = await openConsole(setup.browser, app);
    page = session.page;
  });
  afterEach(() => page.unrouteAll());
  afterAll(async () => {
    await session?.close();
    await setup?.close();
  });

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  /** Those with a name of their own. */
  const keys = () => page.getByRole('link', { name: /^Key \d+$/ }).allTextContents();
  const choose = async (name: string, action: string): Promise<void> => {
    await press(`Actions for ${name}`);
    await page.getByRole('menuitem', { name: action }).click();
  };
  const rowOf = (name: string) =>
    page
      .getByRole('row')
      .filter({ has: page.getByRole('button', { name: `Actions for ${name}`, exact: true }) });

  it('repeat no row and offer a fresh list when another user has created one', async () => {
    await visit(page, '/keys', 'Keys');
    await setup.app.createKey({ name: 'Of another user' });
    await press('Load more');
    await page.getByText('The list has changed since it was loaded.').waitFor();
    await page.getByText('Keys shown: 198').waitFor();
    const shown = await keys();
    expect(new Set(shown).size).toBe(shown.length);
    await expectAccessible(page);
    await press('Load it again');
    await page.getByText('The list has changed since it was loaded.').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Of another user' }).waitFor();
    expect(session.complaints).toEqual([]);
  });

  it('skip no row when another user has deleted one', async () => {
    await visit(page, '/keys', 'Keys');
    const last = Number((await keys()).at(-1)?.replace('Key ', ''));
    await setup.app.sql(`UPDATE api_keys SET deleted_at = now() WHERE name = 'Key 10'`);
    await press('Load more');
    await page.getByRole('link', { name: `Key ${last + 2}`, exact: true }).waitFor();
    expect(await keys()).toContain(`Key ${last + 1}`);
    await page.getByText('The list has changed since it was loaded.').waitFor();
    expect(session.complaints).toEqual([]);
  });

  it('show all rows of a list that does not change', async () => {
    await visit(page, '/keys', 'Keys');
    await press('Load more');
    await page.getByText('Keys shown: 199').waitFor();
    await press('Load more');
    await page.getByText(/^Keys shown: \d+, no more$/).waitFor();
    const shown = await keys();
    expect(new Set(shown).size).toBe(shown.length);
    // One of them was deleted.
    expect(shown).toHaveLength(KEYS - 1);
    expect(await page.getByText('The list has changed since it was loaded.').count()).toBe(0);
  });

  it('keep the test of a provider key, and the focus, when another one changes', async () => {
    await visit(page, '/provider-keys', 'Provider keys');
    const release = await holdRequests(page, '**/api/v1/providers/cohere/test', 'POST');
    await press('Test First');
    await choose('Second', 'Disable');
    await rowOf('Second').getByText('Disabled', { exact: true }).waitFor();
    const menu = page.getByRole('button', { name: 'Actions for Second', exact: true });
    await menu.and(page.locator(':focus')).waitFor();
    release();
    await rowOf('First')
      .getByText(/Works|Failed|HTTP/)
      .waitFor();
    expect(session.complaints).toEqual([]);
  });

  it('keep the rows of members while they are loaded again', async () => {
    const { workspaceId } = setup.app;
    await visit(page, `/workspaces/${workspaceId}`, 'Default');
    const release = await holdRequests(page, '**/members?**', 'GET');
    await choose('user_b', 'Remove');
    await Promise.all([
      page.waitForRequest('**/members?**'),
      page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click(),
    ]);
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    expect(await rowOf('user_a').count()).toBe(1);
    release();
    await rowOf('user_b').waitFor({ state: 'detached' });
    expect(await rowOf('user_a').count()).toBe(1);
    expect(session.complaints).toEqual([]);
  });
});
