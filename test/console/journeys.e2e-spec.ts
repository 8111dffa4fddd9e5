// The daily work of an operator, each task with the number of its steps: what is pressed, chosen or typed.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import {
  describeInChromium,
  fillModel,
  openConsole,
  visit,
  waitUntilLoaded,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { DELIVERY_ENVIRONMENT } from '../support/deliveries/deliveries.js';
import { startAlertReceiver } from '../support/deliveries/notifications.js';
import { traceCollector } from '../support/deliveries/trace-collector.js';
import { deferred } from '../support/deferred.js';
import { eventually } from '../support/eventually.js';
import { startReceiver } from '../support/receivers/receiver.js';
import type { RunningReceiver } from '../support/receivers/receiver.js';
import { askFor } from '../support/requests/admin.js';
import { embed, LOCAL, SMALL } from '../support/requests/create-embedding.js';
import { recordRefusals } from '../support/requests/refusals.js';
import { beginStream, MODEL, sendEvent, text } from '../support/upstreams/chat-upstream.js';

const DESTINATIONS = '/observability/destinations';

/** Counts what a user does. */
class User {
  steps = 0;

  async press(locator: Locator): Promise<void> {
    this.steps += 1;
    await locator.click();
  }

  async type(locator: Locator, value: string): Promise<void> {
    this.steps += 1;
    await locator.fill(value);
  }

  async choose(locator: Locator, label: string): Promise<void> {
    this.steps += 1;
    await locator.selectOption({ label });
  }
}

describeInChromium('the daily work of an operator', () => {
  let setup: ConsoleSetup;
  let traces: RunningReceiver;
  let alerts: RunningReceiver;
  let session: OpenConsole;
  let page: Page;
  let user: User;
  beforeAll(async () => {
    traces = await startReceiver(traceCollector);
    alerts = await startAlertReceiver();
    setup = await startConsole(DELIVERY_ENVIRONMENT);
    for (const model of [SMALL, LOCAL])
      expect((await embed(setup.app, { model, input: 'a text' })).status).toBe(200);
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
  });
  afterAll(async () => {
    await setup.close();
    await traces.close();
    await alerts.close();
  });
  beforeEach(() => {
    user = new User();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const link = (name: string) => page.getByRole('link', { name, exact: true });
  const inNavigation = (name: string) => page.getByRole('banner').getByRole('link', { name, exact: true });
  const heading = (name: string) => page.getByRole('heading', { level: 1, name });
  const region = (name: string) => page.getByRole('region', { name });

  it('raises the limit of a stopped key in four steps', async () => {
    const { app } = setup;
    const { secret } = await app.createKey({ name: 'Checkout', limit: 1n });
    const call = () => embed(app, { model: SMALL, input: 'a text' }, secret);
    expect((await call()).status).toBe(402);
    await recordRefusals(app);
    await visit(page, '/', 'Overview');
    await user.press(page.getByRole('link', { name: /of all calls$/ }));
    await user.press(region('By key').getByRole('link', { name: 'Checkout' }));
    await user.press(button('Raise the limit'));
    await user.press(button('Raise'));
    await page.getByText('Saved Checkout').waitFor();
    expect((await call()).status).toBe(200);
    expect(user.steps).toBe(4);
  });

  it('exports the month of a team by model and key in three steps', async () => {
    await visit(page, '/', 'Overview');
    await user.press(inNavigation('Usage'));
    await user.choose(page.getByLabel('And by'), 'Key');
    await waitUntilLoaded(page);
    const [file] = await Promise.all([page.waitForEvent('download'), user.press(button('Download CSV'))]);
    const [header, ...rows] = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n');
    expect(header).toMatch(/^model,key_name,api_key_id,request_count,/);
    expect(rows.filter((row) => row.includes('Test key'))).toHaveLength(2);
    expect(user.steps).toBe(3);
  });

  it('rotates a key in four steps, and the old one serves for another day', async () => {
    const { app } = setup;
    const { secret } = await app.createKey({ name: 'Nightly' });
    await visit(page, '/', 'Overview');
    await user.press(inNavigation('Keys'));
    await user.press(button('Actions for Nightly'));
    await user.press(page.getByRole('menuitem', { name: 'Rotate' }));
    await user.press(button('Rotate'));
    const shown = page
      .getByRole('dialog')
      .getByText(/^sk-sb-v1-/)
      .first();
    const next = (await shown.textContent()) ?? '';
    expect(next).not.toBe(secret);
    for (const key of [secret, next])
      expect((await embed(app, { model: LOCAL, input: 'a text' }, key)).status).toBe(200);
    expect(user.steps).toBe(4);
    await button('Done').click();
  });

  it('finds the keys that a limit has stopped in two steps, those of all workspaces in three', async () => {
    const { app } = setup;
    await app.createKey({ name: 'Spent', limit: 0n });
    const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
      body: { name: 'Support', slug: 'support' },
    });
    await app.createKey({ name: 'Spent elsewhere', limit: 0n, workspaceId: data.id });
    await visit(page, '/', 'Overview');
    await user.press(inNavigation('Keys'));
    await user.choose(page.getByLabel('State', { exact: true }), 'Stopped by a limit');
    await link('Test key').waitFor({ state: 'detached' });
    await link('Spent').waitFor();
    expect(await link('Spent elsewhere').count()).toBe(0);
    expect(user.steps).toBe(2);
    await user.choose(page.getByRole('banner').getByLabel('Workspace'), 'All workspaces');
    await link('Spent elsewhere').waitFor();
    await page.getByRole('row').filter({ hasText: 'Spent elsewhere' }).getByText('Support').waitFor();
    expect(user.steps).toBe(3);
  });

  it('adds a destination with a filter, tested before it is saved, in seven steps from their list', async () => {
    await visit(page, '/destinations', 'Destinations');
    await user.press(link('Add destination').first());
    await user.press(link('Webhook'));
    await user.type(page.getByLabel('URL'), `${traces.origin}/traces`);
    await user.press(button('Add a filter'));
    await user.type(page.getByLabel('Value of rule 1 of group 1'), SMALL);
    await page.getByText(/^Would have matched [1-9]\d* of the last [1-9]\d* calls\.$/).waitFor();
    await user.press(button('Test'));
    await page.getByText(/Webhook accepted the test/).waitFor();
    await user.press(button('Create destination'));
    await page.getByText('Delivered', { exact: true }).waitFor();
    expect(user.steps).toBe(7);
  });

  it('replays dead letters in three steps, and says what became of each', async () => {
    const { app } = setup;
    const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', DESTINATIONS, {
      body: { type: 'webhook', name: 'Strict', config: { url: `${traces.origin}/traces` } },
    });
    traces.always({ status: 400, body: 'this trace is malformed' });
    for (const input of ['one', 'two']) await embed(app, { model: LOCAL, input });
    await eventually(
      () => app.sql('SELECT 1 FROM dead_letters WHERE destination_id = $1', [data.id]),
      ({ length }) => length === 2,
    );
    traces.always(null);
    await visit(page, '/', 'Overview');
    await user.press(region('Health').getByRole('link', { name: 'Strict' }));
    await page.getByText('this trace is malformed').first().waitFor();
    await user.press(button('Replay'));
    await user.press(page.getByRole('dialog').getByRole('button', { name: 'Replay' }));
    await page.getByText('Sent again: 2 dead letters.').waitFor();
    await page.getByText('Delivered after replay').nth(1).waitFor();
    expect(user.steps).toBe(3);
  });

  it('compares the latency of two models in two steps', async () => {
    await visit(page, '/', 'Overview');
    await user.press(link('Latency'));
    await user.press(link('Each model'));
    const legend = page.getByRole('list', { name: 'Legend' });
    for (const model of [SMALL, LOCAL]) await legend.getByText(model, { exact: true }).waitFor();
    expect(user.steps).toBe(2);
    await user.press(link('95th percentile'));
    await page
      .getByRole('img', { name: /95th percentile/ })
      .or(page.getByText('Latency: 95th percentile'))
      .first()
      .waitFor();
    await user.press(link('First token'));
    await page.getByText('First token: 95th percentile').first().waitFor();
  });

  it('adds a budget alert in five steps', async () => {
    await visit(page, '/', 'Overview');
    await user.press(region('Limits').getByRole('link', { name: 'Alerts' }));
    await user.press(link('Add alert').first());
    await user.type(page.getByLabel('Name', { exact: true }), 'Pager');
    await user.type(page.getByLabel('Receiver'), `${alerts.origin}/alerts`);
    await user.press(button('Save'));
    await heading('Pager').waitFor();
    expect(user.steps).toBe(5);
  });

  it('changes the workspace in one step', async () => {
    await askFor(201, setup.app, 'post', '/workspaces', { body: { name: 'Research', slug: 'research' } });
    await visit(page, '/keys', 'Keys');
    await user.choose(page.getByRole('combobox', { name: 'Workspace' }), 'Research');
    await page.getByText('No key yet').waitFor();
    expect(user.steps).toBe(1);
    await page.getByRole('combobox', { name: 'Workspace' }).selectOption(setup.app.workspaceId);
  });

  it('stops a stream in one step, and says what it cost', async () => {
    const left = deferred();
    setup.upstream.answerWith((_request, response) => {
      response.once('close', left.resolve);
      beginStream(response);
      sendEvent(response, text('The first half'));
      return left.promise;
    });
    // The record of the call follows its end.
    session.expectStatus(404);
    await visit(page, '/playground?operation=chat', 'Playground');
    await fillModel(page, MODEL);
    await page.getByLabel('Message', { exact: true }).fill('Go on for ever.');
    await page.getByLabel('Message', { exact: true }).press('Enter');
    await page.getByText('The first half').waitFor();
    await user.press(button('Stop'));
    await page.getByText(/Cancelled\. Charged: \$0\.0\d+/).waitFor();
    expect(user.steps).toBe(1);
    setup.upstream.answerWith(null);
    expect(session.complaints).toEqual([]);
  });
});
