// Budgets in the console: what is spent of them, whatever the age of the workspace, and what a failure leaves behind.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  describeInChromium,
  expectAccessibleEverywhere,
  holdRequests,
  openConsole,
  returnLater,
  visit,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { askFor } from '../support/requests/admin.js';
import { embed, LOCAL } from '../support/requests/create-embedding.js';

describeInChromium('budgets in the console', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    const { app } = setup;
    // The overview shows limits once there was a call.
    expect((await embed(app, { model: LOCAL, input: 'one' })).status).toBe(200);
    await app.sql(`UPDATE workspaces SET created_at = now() - interval '100 days' WHERE id = $1`, [
      app.workspaceId,
    ]);
    const workspace = `/workspaces/${app.workspaceId}`;
    await askFor(200, app, 'patch', workspace, { body: { name: 'Search team' } });
    const budgets = `${workspace}/budgets`;
    await askFor(200, app, 'put', `${budgets}/daily`, {
      body: { limit_usd: 1, include_byok_in_budgets: true },
    });
    await askFor(200, app, 'put', `${budgets}/lifetime`, { body: { limit_usd: 10 } });
    // A day that is ahead counts, so that the end of this day changes nothing.
    await app.sql(
      `UPDATE workspace_spend SET last_day = (now() AT TIME ZONE 'utc')::date + 1, daily = 0.1, byok_daily = 0.2,
         total = 10, byok_total = 0.25 WHERE workspace_id = $1`,
      [app.workspaceId],
    );
    session = await openConsole(setup.browser, app);
    page = session.page;
  });
  afterAll(async () => {
    await session.close();
    await setup.close();
  });

  const meterText = (name: string) => page.getByRole('meter', { name }).getAttribute('aria-valuetext');

  it('shows the spend of each, and that one of an old workspace is reached', async () => {
    await visit(page, `/workspaces/${setup.app.workspaceId}`, 'Search team');
    const lifetime = page.getByRole('listitem').filter({ hasText: 'Lifetime' });
    await lifetime.getByText('Reached', { exact: true }).waitFor();
    await lifetime.getByText(/are refused with 403 until the budget is raised/).waitFor();
    expect(await meterText('Spend of the lifetime budget')).toBe('$10.25 of $10.00');
    // The sum of both numbers would be $0.30000000000000004.
    expect(await meterText('Spend of the daily budget')).toBe('$0.30 of $1.00');
    const daily = page.getByRole('listitem').filter({ hasText: 'Daily' });
    expect(await daily.getByText('Reached', { exact: true }).count()).toBe(0);
    await expectAccessibleEverywhere(page);
    expect(session.complaints).toEqual([]);
  });

  it('offers another one when those that exist are known', async () => {
    const release = await holdRequests(page, '**/budgets');
    const add = page.getByRole('button', { name: 'Add budget' });
    await page.goto(`/workspaces/${setup.app.workspaceId}`);
    await page.getByRole('heading', { level: 2, name: 'Budgets' }).waitFor();
    expect(await add.count()).toBe(0);
    release();
    await add.click();
    const intervals = await page.getByLabel('Interval').locator('option').allTextContents();
    expect(intervals).toEqual(['Weekly', 'Monthly']);
    await page.unrouteAll();
    expect(session.complaints).toEqual([]);
  });

  it('keeps an open form as it began, and sends only what is changed', async () => {
    const { app } = setup;
    const budgets = `/workspaces/${app.workspaceId}/budgets`;
    const stored = () => askFor<{ include_byok_in_budgets: boolean }>(200, app, 'get', budgets);
    await visit(page, `/workspaces/${app.workspaceId}`, 'Search team');
    await page.getByRole('button', { name: 'Actions for the daily budget' }).click();
    await page.getByRole('menuitem', { name: 'Change' }).click();
    const limit = page.getByLabel('Budget', { exact: true });
    await limit.waitFor();
    await askFor(200, app, 'put', `${budgets}/daily`, {
      body: { limit_usd: 2, include_byok_in_budgets: false },
    });
    await returnLater(page);
    // Behind the form.
    await page.locator('[role=meter][aria-valuetext="$0.10 of $2.00"]').waitFor();
    expect(await limit.inputValue()).toBe('1');
    expect(await page.getByRole('switch', { name: /own provider keys/ }).isChecked()).toBe(true);
    await limit.fill('3');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Daily budget saved.').waitFor();
    expect(await stored()).toMatchObject({ include_byok_in_budgets: false });
    await page.locator('[role=meter][aria-valuetext="$0.10 of $3.00"]').waitFor();
    await askFor(200, app, 'put', `${budgets}/daily`, {
      body: { limit_usd: 1, include_byok_in_budgets: true },
    });
    expect(session.complaints).toEqual([]);
  });

  it('keeps the intervals of an open form when one of them is taken', async () => {
    const { app } = setup;
    const budgets = `/workspaces/${app.workspaceId}/budgets`;
    await visit(page, `/workspaces/${app.workspaceId}`, 'Search team');
    await page.getByRole('button', { name: 'Add budget' }).click();
    const interval = page.getByLabel('Interval');
    await interval.selectOption('Weekly');
    await askFor(200, app, 'put', `${budgets}/weekly`, { body: { limit_usd: 5 } });
    await returnLater(page);
    // Behind the form.
    await page.locator('[role=meter][aria-label="Spend of the weekly budget"]').waitFor();
    expect(await interval.inputValue()).toBe('weekly');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await askFor(200, app, 'delete', `${budgets}/weekly`);
    expect(session.complaints).toEqual([]);
  });

  it('shows the same on the overview', async () => {
    await visit(page, '/', 'Overview');
    expect(await meterText('Lifetime budget')).toBe('$10.25 of $10.00');
    expect(await meterText('Daily budget')).toBe('$0.30 of $1.00');
    expect(session.complaints).toEqual([]);
  });
});
