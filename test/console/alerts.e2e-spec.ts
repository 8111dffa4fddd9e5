// Budget alerts in the console: added beside a limit, tested, reached by a call, replayed after a failure, deleted.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { BudgetScan } from '../../src/deliveries/notifications/budget-scan.js';
import { NotificationSender } from '../../src/deliveries/notifications/notification-sender.js';
import type { TestKey } from '../support/app/app.js';
import {
  describeInChromium,
  expectAccessible,
  expectAccessibleEverywhere,
  openConsole,
  visit,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { DELIVERY_ENVIRONMENT } from '../support/deliveries/deliveries.js';
import { eventsOf, startAlertReceiver } from '../support/deliveries/notifications.js';
import { eventually } from '../support/eventually.js';
import type { RunningReceiver } from '../support/receivers/receiver.js';
import { askFor } from '../support/requests/admin.js';
import { embed, SMALL } from '../support/requests/create-embedding.js';

describeInChromium('alerts in the console', () => {
  let setup: ConsoleSetup;
  let receiver: RunningReceiver;
  let session: OpenConsole;
  let page: Page;
  let key: TestKey;
  beforeAll(async () => {
    receiver = await startAlertReceiver();
    setup = await startConsole(DELIVERY_ENVIRONMENT);
    key = await setup.app.createKey({ name: 'Search team', limit: 1_000_000n, limitReset: 'daily' });
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
  });
  afterAll(async () => {
    await setup.close();
    await receiver.close();
  });

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const alertId = () => String(new URL(page.url()).pathname.split('/').at(-1));
  /** Scans and sends until the newest event of the alert is in this state. */
  const untilNewestIs = (state: string) =>
    eventually(
      async () => {
        await setup.app.application.get(BudgetScan).scan(0);
        await setup.app.application.get(NotificationSender).poll();
        return (await eventsOf(setup.app, alertId())).at(-1)?.state;
      },
      (newest) => newest === state,
    );

  it('says which steps come next when there is none', async () => {
    await visit(page, '/alerts', 'Alerts');
    await page.getByText('No alert yet').waitFor();
    await expectAccessibleEverywhere(page);
    expect(session.complaints).toEqual([]);
  });

  it('is added from the page of a key in three steps, and names the member that is wrong', async () => {
    await visit(page, `/keys/${key.record.hash}`, 'Search team');
    await page.getByRole('link', { name: 'Add an alert' }).click();
    const form = page.getByRole('dialog');
    expect(await form.getByLabel('Limits of keys').isChecked()).toBe(true);
    expect(await form.getByLabel('Budgets of workspaces').isChecked()).toBe(false);
    // The limit is that of a key of this workspace, which has no credits.
    expect(await form.getByLabel('Credits of the account').count()).toBe(0);
    await form.getByLabel('Name', { exact: true }).fill('Pager');
    await form.getByLabel('Receiver').fill(`${receiver.origin}/alerts`);
    await form.getByLabel('At', { exact: true }).fill('50, much');
    session.expectStatus(400);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText(/must hold|must be/i).waitFor();
    await expectAccessible(page);
    await form.getByLabel('At', { exact: true }).fill('50, 100');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'Pager' }).waitFor();
    await page.getByText('50 and 100 % of the limit').waitFor();
    await page.getByText('No event yet').waitFor();
    await expectAccessibleEverywhere(page);
    await page.setViewportSize({ width: 1280, height: 860 });
  });

  it('tests the receiver, and shows why that failed', async () => {
    receiver.always({ status: 500 });
    await press('Test');
    await page.getByText(/The test failed after/).waitFor();
    receiver.always(null);
    await press('Test');
    await page.getByText(/The receiver accepted the test/).waitFor();
  });

  it('shows an event with its limit, and sends one again that the receiver refused', async () => {
    receiver.always({ status: 400 });
    const [{ cost }] = [await spendHalf()];
    expect(cost).toBeGreaterThan(0);
    await untilNewestIs('dead_letter');
    await page.reload();
    await page.getByText(/The receiver did not take an event/).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'Search team' });
    await row.getByText('50 %').waitFor();
    await row.getByText('Not delivered').waitFor();
    await expectAccessibleEverywhere(page);
    await page.setViewportSize({ width: 1280, height: 860 });
    receiver.always(null);
    await press('Send again');
    await page.getByText('Events that are sent again: 1.').waitFor();
    await untilNewestIs('delivered');
    await press('Refresh');
    await row.getByText('Delivered', { exact: true }).waitFor();
    await row.getByRole('button', { name: /Details of the event/ }).click();
    await page.getByRole('dialog').getByText('"budget.threshold_reached"').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('State').selectOption('Not delivered');
    await page.getByText('No event in this state').waitFor();
    await page.getByLabel('State').selectOption('Any state');
  });

  /** One call that costs half of the limit of the key, and its cost. */
  async function spendHalf(): Promise<{ readonly cost: number }> {
    const { app } = setup;
    const before = await embed(app, { model: SMALL, input: 'a text' }, key.secret);
    expect(before.status).toBe(200);
    const { usage } = before.body as { usage: { cost: number } };
    await askFor(200, app, 'patch', `/keys/${key.record.hash}`, { body: { limit: usage.cost * 2 } });
    expect((await embed(app, { model: SMALL, input: 'a text' }, app.apiKey)).status).toBe(200);
    return usage;
  }

  it('is named beside the limits that it watches', async () => {
    await visit(page, `/keys/${key.record.hash}`, 'Search team');
    await page.getByRole('link', { name: 'Pager' }).waitFor();
    await page.getByText('at 50, 100 %').waitFor();
    const workspace = `/workspaces/${setup.app.workspaceId}`;
    await askFor(200, setup.app, 'put', `${workspace}/budgets/daily`, { body: { limit_usd: 1 } });
    await page.goto(workspace);
    // It does not watch budgets.
    await page.getByText('None.').waitFor();
    await page.getByRole('link', { name: 'Add an alert' }).waitFor();
  });

  it('sends only what is changed, shows the secret when it is asked for, and is deleted by name', async () => {
    await visit(page, '/alerts', 'Alerts');
    await page.getByRole('link', { name: 'Pager' }).click();
    await page.getByRole('heading', { level: 1, name: 'Pager' }).waitFor();
    await press('Edit');
    const form = page.getByRole('dialog');
    await form.getByLabel('At', { exact: true }).fill('90');
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === 'PATCH'),
      form.getByRole('button', { name: 'Save' }).click(),
    ]);
    expect(request.postDataJSON()).toEqual({ thresholds: [90] });
    await page.getByText('90 % of the limit').waitFor();
    expect(await page.content()).not.toMatch(/whsec_[A-Za-z0-9+/]/);
    await press('Show');
    await page.getByText(/whsec_[A-Za-z0-9+/]+/).waitFor();
    await page.getByRole('button', { name: 'Further actions for Pager' }).click();
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await page.getByText('Off', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Further actions for Pager' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const question = page.getByRole('alertdialog');
    await question.getByText('Pager').waitFor();
    await question.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No alert yet').waitFor();
    expect(session.complaints).toEqual([]);
  });
});
