// Failures in the console: each has words, is repeated where it happened, and ends with what it was about.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { describeInChromium, expectAccessible, openConsole, visit } from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { deferred } from '../support/deferred.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { askFor } from '../support/requests/admin.js';
import { embed, LOCAL } from '../support/requests/create-embedding.js';

const KEYS = 150;

const broken = (route: Route): Promise<void> =>
  route.fulfill({ status: 500, json: { error: { code: 500, message: 'Out of order' } } });

describeInChromium('failures in the console', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    const { app } = setup;
    // The overview has figures once there was a call.
    expect((await embed(app, { model: LOCAL, input: 'one' })).status).toBe(200);
    session = await openConsole(setup.browser, app);
    page = session.page;
    session.expectStatus(500);
  });
  afterEach(() => page.unrouteAll());
  afterAll(async () => {
    await session.close();
    await setup.close();
  });

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

  it('of older rows are shown under the list, and repeated there', async () => {
    await setup.app.sql(
      `INSERT INTO api_keys (id, account_id, workspace_id, hash, kind, name, label, created_at)
       SELECT gen_random_uuid(), $1, $2, encode(sha256(('older' || n)::bytea), 'hex'), 'inference', 'Key ' || n, 'l',
         now() - n * interval '1 second' FROM generate_series(1, ${KEYS}) AS n`,
      [setup.app.accountId, setup.app.workspaceId],
    );
    await visit(page, '/keys', 'Keys');
    await page.route(/keys\?.*offset=99/, broken);
    await press('Load more');
    await page.getByText('Loading keys failed: Out of order').waitFor();
    await page.getByText('Keys shown: 100').waitFor();
    await expectAccessible(page);
    await page.unrouteAll();
    await press('Try again');
    await page.getByText(/^Keys shown: \d+, no more$/).waitFor();
    expect(await page.getByText('Loading keys failed').count()).toBe(0);
    expect(await page.getByRole('row').count()).toBeGreaterThan(KEYS);
  });

  it('of the providers stand in the way of a new provider key, and are repeated there', async () => {
    await page.route('**/api/v1/providers', broken);
    await visit(page, '/provider-keys', 'Provider keys');
    await page.getByText('No provider key yet').waitFor();
    await page.getByText('The providers could not be loaded: Out of order').waitFor();
    const add = page.getByRole('button', { name: 'Add provider key' });
    expect(await add.count()).toBe(0);
    await expectAccessible(page);
    await page.unrouteAll();
    await press('Try again');
    await add.first().click();
    expect(await page.getByLabel('Provider', { exact: true }).locator('option').count()).toBeGreaterThan(1);
  });

  it.each([
    { what: 'credits', url: '**/api/v1/credits', shown: /^No budget and no credit limit/ },
    { what: 'states of providers', url: '**/api/v1/providers/health', shown: 'All configured answer' },
  ])('of $what are repeated by the button that is beside them', async ({ url, shown }) => {
    await page.route(url, broken);
    await page.goto('/');
    await page.getByText('This could not be loaded').waitFor();
    await page.unrouteAll();
    await press('Try again');
    await page.getByText(shown).waitFor();
    expect(await page.getByText('This could not be loaded').count()).toBe(0);
  });

  it('of the spend alone are repeated by the button in place of the figures', async () => {
    const { page: ownPage, expectStatus, close } = await openConsole(setup.browser, setup.app);
    expectStatus(500);
    // Without polls, which would repeat the loads as well.
    await ownPage.addInitScript('window.setInterval = () => 0');
    await ownPage.route('**/api/v1/analytics/query', (route) =>
      route.request().postDataJSON().metrics.join() === 'total_usage' ? broken(route) : route.continue(),
    );
    await ownPage.goto('/');
    await ownPage.getByText('This could not be loaded').waitFor();
    await ownPage.unrouteAll();
    await ownPage.getByRole('button', { name: 'Try again' }).click();
    await ownPage.getByText('Spend this month').waitFor();
    await close();
  });

  it('of the chart leave no line of zeros, nor does a load that takes long', async () => {
    const { page: ownPage, expectStatus, close } = await openConsole(setup.browser, setup.app);
    expectStatus(500);
    const held = deferred();
    await ownPage.route('**/api/v1/analytics/query', async (route) => {
      if (route.request().postDataJSON().granularity === undefined) return route.continue();
      await held.promise;
      return broken(route);
    });
    await ownPage.goto('/');
    const section = ownPage.getByRole('region', { name: 'Over time' });
    await section.getByRole('status', { name: 'Loading' }).waitFor();
    expect(await section.getByRole('figure').count()).toBe(0);
    held.resolve();
    await section.getByText('Out of order').waitFor();
    expect(await section.getByRole('figure').count()).toBe(0);
    await ownPage.unrouteAll();
    await section.getByRole('button', { name: 'Try again' }).click();
    await section.getByRole('img', { name: 'Calls: from 0 to 1' }).waitFor();
    await close();
  });

  it('of the states of destinations leave the list', async () => {
    await page.route('**/api/v1/observability/deliveries*', broken);
    await visit(page, '/destinations', 'Destinations');
    await page.getByText('No destination yet').waitFor();
    await page.getByText('The states of the deliveries could not be loaded: Out of order').waitFor();
    await page.unrouteAll();
    await press('Try again');
    await page.getByText('The states of the deliveries could not be loaded').waitFor({ state: 'detached' });
  });

  it('of the sign-out are reported, and the session goes on', async () => {
    await visit(page, '/keys', 'Keys');
    await page.route('**/console/session', (route) =>
      route.request().method() === 'DELETE' ? broken(route) : route.continue(),
    );
    await press('Sign out');
    await page.getByText('You are still signed in. Out of order').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
  });

  it('of one call show the banner once, not again with each letter that is typed', async () => {
    const { page: ownPage, close } = await openConsole(setup.browser, setup.app);
    await visit(ownPage, '/playground', 'Playground');
    await ownPage.route('**/console/playground/**', (route) => route.abort());
    await ownPage.getByRole('button', { name: 'Embed 3 texts' }).click();
    const banner = ownPage.getByText('This page continues when it is back.');
    await banner.waitFor();
    await banner.waitFor({ state: 'detached' });
    const texts = ownPage.getByLabel('Texts');
    for (const [text, button] of [
      ['one', 'Embed 1 text'],
      ['one\ntwo', 'Embed 2 texts'],
      ['one\ntwo\nthree', 'Embed 3 texts'],
    ] as const) {
      await texts.fill(text);
      await ownPage.getByRole('button', { name: button, exact: true }).waitFor();
      expect(await banner.count()).toBe(0);
    }
    // The call itself says so, and stays.
    await ownPage.getByRole('alert').getByText('The service cannot be reached.').first().waitFor();
    await close();
  });

  it('of a request that is repeated show the banner again', async () => {
    const { page: ownPage, close } = await openConsole(setup.browser, setup.app);
    const released = deferred();
    let isHeld = false;
    await ownPage.route('**/api/v1/keys?**', async (route) => {
      if (isHeld) await released.promise;
      await route.abort();
    });
    await ownPage.goto('/keys');
    const banner = ownPage.getByText('This page continues when it is back.');
    await banner.waitFor();
    isHeld = true;
    // Other requests arrive.
    await banner.waitFor({ state: 'detached' });
    released.resolve();
    await banner.waitFor();
    await ownPage.unrouteAll();
    await banner.waitFor({ state: 'detached' });
    await ownPage.getByRole('link', { name: 'Test key' }).first().waitFor();
    await close();
  });

  describe('in a dialog', () => {
    beforeAll(async () => {
      const { app } = setup;
      const workspace = `/workspaces/${app.workspaceId}`;
      await askFor(200, app, 'patch', workspace, { body: { name: 'Search team' } });
      for (const name of ['First', 'Second']) {
        await askFor(201, app, 'post', '/byok', {
          body: { provider: 'cohere', key: 'co-0123456789abcdef', name },
        });
      }
      await askFor(200, app, 'put', `${workspace}/budgets/daily`, { body: { limit_usd: 1 } });
      await askFor(200, app, 'put', `${workspace}/budgets/weekly`, { body: { limit_usd: 2 } });
      await askFor(200, app, 'post', `${workspace}/members/add`, {
        body: { user_ids: ['user_a', 'user_b'] },
      });
    });

    it.each([
      { of: 'a provider key', names: ['First', 'Second'], action: 'Delete', url: '**/api/v1/byok/*' },
      {
        of: 'a budget',
        names: ['the daily budget', 'the weekly budget'],
        action: 'Delete',
        url: '**/budgets/*',
      },
      { of: 'a member', names: ['user_a', 'user_b'], action: 'Remove', url: '**/members/remove' },
    ])('of $of are gone when it is opened for another', async ({ of, names, action, url }) => {
      await (of === 'a provider key'
        ? visit(page, '/provider-keys', 'Provider keys')
        : visit(page, `/workspaces/${setup.app.workspaceId}`, 'Search team'));
      const dialog = page.getByRole('alertdialog');
      const open = async (name: string | undefined): Promise<void> => {
        await press(`Actions for ${name}`);
        await page.getByRole('menuitem', { name: action }).click();
        await dialog.waitFor();
      };
      await page.route(url, broken);
      await open(names[0]);
      await dialog.getByRole('button', { name: action }).click();
      await dialog.getByRole('alert').getByText('Out of order').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      await open(names[1]);
      expect(await dialog.getByRole('alert').count()).toBe(0);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
    });

    it('of a form are gone when it is opened again', async () => {
      await visit(page, '/workspaces', 'Workspaces');
      await page.route('**/api/v1/workspaces', (route) =>
        route.request().method() === 'POST' ? broken(route) : route.continue(),
      );
      await press('Create workspace');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Staging');
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.getByText('Out of order').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      await press('Create workspace');
      await dialog.getByLabel('Name').waitFor();
      expect(await dialog.getByText('Out of order').count()).toBe(0);
    });
  });
});
