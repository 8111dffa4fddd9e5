// Sign-in, sign-out, sessions that end, and lost networks, as a user of the console meets them.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import {
  describeInChromium,
  expectAccessible,
  openConsole,
  signInWith,
  visit,
} from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { askFor } from '../support/requests/admin.js';
import { embed, LOCAL } from '../support/requests/create-embedding.js';

async function enter(dialog: Locator, key: string): Promise<void> {
  await dialog.getByLabel('Key', { exact: true }).fill(key);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
}

describeInChromium('sessions of the console', () => {
  let setup: ConsoleSetup;
  beforeAll(async () => {
    setup = await startConsole();
  });
  afterAll(async () => {
    await setup.close();
  });

  it('says in one sentence that a key is wrong', async () => {
    const { page, complaints, close } = await openConsole(setup.browser, setup.app, { key: null });
    await page.goto('/sign-in');
    await page.getByLabel('Key', { exact: true }).fill('sk-sb-v1-wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .getByText('This key is not valid. It may be mistyped, disabled, expired or deleted.')
      .waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
    await close();
  });

  it('leads from any page to the sign-in page and back', async () => {
    const { page, close } = await openConsole(setup.browser, setup.app, { key: null });
    await page.goto('/keys?disabled=hidden');
    await page.getByText('You return to the page that you were on.').waitFor();
    await signInWith(page, setup.app.managementKey);
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    expect(new URL(page.url()).search).toBe('?disabled=hidden');
    await close();
  });

  it('follows no address of another origin after the sign-in', async () => {
    for (const from of ['//example.com/x', '/\\example.com', 'https://example.com/']) {
      const { page, complaints, close } = await openConsole(setup.browser, setup.app, { key: null });
      await page.goto(`/sign-in?from=${encodeURIComponent(from)}`);
      await signInWith(page, setup.app.managementKey);
      expect(new URL(page.url()).origin).toBe(setup.app.origin);
      expect(complaints).toEqual([]);
      await close();
    }
  });

  it('signs in over the page, which keeps what was typed, also in a dialog', async () => {
    const { page, context, complaints, close } = await openConsole(setup.browser, setup.app);
    await page.addInitScript('window.setInterval = () => 0');
    await visit(page, '/destinations/new?kind=webhook', 'Add Webhook');
    await page.getByLabel('Name', { exact: true }).fill('Half a destination');
    await context.clearCookies();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    const signIn = page.getByRole('dialog', { name: 'Sign in to signalbox' });
    await signIn.getByText('The page keeps what you have typed.').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await signIn.waitFor();
    await enter(signIn, setup.app.managementKey);
    await signIn.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Half a destination');
    expect(new URL(page.url()).pathname).toBe('/destinations/new');
    await visit(page, '/keys', 'Keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    const form = page.getByRole('dialog', { name: 'Create key' });
    await form.getByLabel('Name', { exact: true }).fill('Half a key');
    // A click beside a form takes nothing that was typed.
    await page.mouse.click(5, 5);
    await context.clearCookies();
    await form.getByRole('button', { name: 'Create key' }).click();
    await signIn.getByText('The page keeps what you have typed.').waitFor();
    await enter(signIn, setup.app.managementKey);
    await signIn.waitFor({ state: 'detached' });
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('Half a key');
    expect(complaints).toEqual([]);
    await close();
  });

  it('begins again with a key of another account', async () => {
    const { page, context, close } = await openConsole(setup.browser, setup.app);
    await page.addInitScript('window.setInterval = () => 0');
    await visit(page, '/keys', 'Keys');
    await context.clearCookies();
    await page.getByRole('button', { name: 'Refresh' }).click();
    const { managementKey } = await setup.app.createAccount();
    await enter(page.getByRole('dialog', { name: 'Sign in to signalbox' }), managementKey);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await close();
  });

  it('signs out, and shows nothing to the back button', async () => {
    const { page, close } = await openConsole(setup.browser, setup.app);
    await visit(page, '/keys', 'Keys');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to signalbox' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Sign in to signalbox' }).waitFor();
    expect(await page.getByText('Test key').count()).toBe(0);
    await close();
  });

  it('ends with the key that signed in', async () => {
    const { secret, record } = await setup.app.createKey({ kind: 'management', name: 'Leaver' });
    const { page, close } = await openConsole(setup.browser, setup.app, { key: secret });
    // Without polls, which would meet the end before the click.
    await page.addInitScript('window.setInterval = () => 0');
    await visit(page, '/keys', 'Keys');
    await setup.app.http
      .patch(`/api/v1/keys/${record.hash}`)
      .set('authorization', `Bearer ${setup.app.managementKey}`)
      .send({ disabled: true })
      .expect(200);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('heading', { name: 'Sign in to signalbox' }).waitFor();
    await close();
  });

  it('shows an inference key its own page only', async () => {
    const { app } = setup;
    await askFor(200, app, 'put', `/workspaces/${app.workspaceId}/budgets/daily`, { body: { limit_usd: 3 } });
    expect((await embed(app, { model: LOCAL, input: 'one' })).status).toBe(200);
    const { page, complaints, close } = await openConsole(setup.browser, app, { key: app.apiKey });
    await page.getByRole('heading', { level: 1, name: 'My key' }).waitFor();
    await page.getByText('Daily budget').waitFor();
    await page.getByText('$3.00 left').waitFor();
    const usage = page.getByRole('table', { name: 'Usage by day and model' });
    await usage.getByRole('row').filter({ hasText: LOCAL }).waitFor();
    await page.goto('/keys');
    await page.getByRole('heading', { level: 1, name: 'My key' }).waitFor();
    expect(await page.getByRole('link', { name: 'Generations' }).count()).toBe(0);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
    await close();
  });

  it('says that the service cannot be reached, and continues when it is back', async () => {
    const { page, context, close } = await openConsole(setup.browser, setup.app);
    await visit(page, '/keys', 'Keys');
    await context.setOffline(true);
    await page.getByText('The service cannot be reached.').waitFor();
    await context.setOffline(false);
    await page.getByText('The service cannot be reached.').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Test key' }).first().waitFor();
    await close();
  });
});
